import { useState } from 'react'
import { blobLink, Failure, query, questPath, withdraw } from '../../api/client'
import type { Conversation, Utterance } from '../../api/types'
import { useLive, useQuestResource } from '../../live/context'
import { questLink } from '../../route'
import { Markdown } from '../../text/markdown'
import { visible, Words } from '../../text/plain'
import { Badge, bytes, moment } from '../../ui/show'
import { Empty, Ready } from '../../ui/states'
import { Questions } from '../quest/questions'
import { Say } from './say'
import { Track } from './track'
import './talk.css'

const step = 100

/** Talk is the conversation of a study: what was said, how far it came, what is asked, and where the study is. */
export default function Talk({ name }: { name: string }) {
  const { quest, snapshot } = useLive()
  const [most, setMost] = useState(step)
  const talk = useQuestResource<Conversation>(questPath(name, `/conversation${query({ tail: most })}`))
  const live = [...snapshot.saying].filter(([, s]) => !s.over && s.text).map(([agent, s]) => ({ agent, text: s.text }))
  return (
    <div className="page talk">
      <h2 className="hidden-label">Conversation</h2>
      <Ready of={talk} what="the conversation">{(c) => (c.total === 0
        ? <Empty title="No conversation">Only a study has one: its agents hear what is said in their next turn.</Empty>
        : (
          <>
            <Track quest={name} talk={c} />
            {c.previous !== undefined && most < 500 && <button className="button small" onClick={() => setMost(Math.min(500, most + step))}>Earlier</button>}
            {c.previous !== undefined && most >= 500 && <p className="small muted">What was said before is on the <a
              href={questLink(name, 'timeline', { type: 'user.' })}>timeline</a>.</p>}
            <ol className="said" aria-label="What was said">
              {c.utterances.map((u) => <One key={u.seq} quest={name} said={u} again={talk.again} />)}
              {live.map((s) => <li key={s.agent} className="utterance said" aria-live="off">
                <p className="row small who"><b>{s.agent}</b><span className="muted pulse">is writing</span></p>
                <p className="told">{visible(s.text)}</p></li>)}
            </ol>
          </>
        ))}</Ready>
      {quest.data && <Questions quest={quest.data} />}
      {quest.data && talk.data && talk.data.total > 0 && <Say quest={quest.data} again={talk.again} />}
    </div>
  )
}

const marks: Record<NonNullable<Utterance['delivery']>, [string, string]> = {
  queued: ['warn', 'queued'], delivered: ['good', 'delivered'], withdrawn: ['', 'taken back'],
}

const tones: Record<string, string | undefined> = { decision_request: 'asks', milestone: 'good', answer: 'good' }

const people = new Set<Utterance['kind']>(['message', 'answer'])

function One({ quest, said: u, again }: { quest: string; said: Utterance; again: () => void }) {
  const link = <a className="muted num" href={questLink(quest, 'timeline', { seq: u.seq })} title={moment(u.time)}>{u.seq}</a>
  if (u.kind === 'news') return <li className="utterance news small muted"><Words>{u.by}</Words> <Words>{u.text}</Words> {link}</li>
  const mine = people.has(u.kind)
  const [tone, mark] = u.delivery ? marks[u.delivery] : ['', '']
  return (
    <li className={`utterance ${mine ? 'mine' : 'theirs'} ${u.delivery ?? ''}`}>
      <p className="row small who">
        <b>{mine ? (u.sender ? <Words>{u.sender}</Words> : 'you') : <Words>{u.by}</Words>}</b>
        {u.source && <span className="muted">by <Words>{u.source}</Words></span>}
        {u.label && <Badge tone={tones[u.label]}>{visible(u.label.replaceAll('_', ' '))}</Badge>}
        {u.kind === 'answer' && <Badge>answer</Badge>}
        {mark && <Badge tone={tone || undefined}>{mark}</Badge>}
        {u.reply && <a className="muted" href={questLink(quest, 'timeline', { seq: u.reply })}>to {u.reply}</a>}
        <time className="muted num" dateTime={u.time}>{moment(u.time)}</time>
        {link}
        {u.delivery === 'queued' && <Back quest={quest} message={u.seq} again={again} />}
      </p>
      {mine ? <p className="told">{visible(u.text)}</p> : <Markdown text={u.text} />}
      {u.ref && <a className="small" href={blobLink(u.ref.hash, 'text.txt')}>all of it, {bytes(u.ref.size)}</a>}
      {(u.attachments ?? []).map((a, i) => <p key={i} className="small"><a href={blobLink(a.ref.hash, a.name ?? 'file')} download={a.name ?? 'file'}>
        {visible(a.name ?? 'file')}</a> <span className="muted num">{bytes(a.ref.size)}</span></p>)}
      {(u.files ?? []).map((f) => <p key={f} className="small mono">{visible(f)}</p>)}
    </li>
  )
}

// A message that nobody has heard can be taken back.
function Back({ quest, message, again }: { quest: string; message: number; again: () => void }) {
  const [wrong, setWrong] = useState('')
  const really = async () => {
    try {
      await withdraw(quest, message)
    } catch (error) {
      setWrong(error instanceof Failure ? error.message : String(error))
    }
    again()
  }
  return <>
    <button className="link" aria-label={`Take back message ${message}`} onClick={() => void really()}>take back</button>
    {wrong && <span className="note bad" role="alert"><Words>{wrong}</Words></span>}
  </>
}
