import { useCallback, useRef, useState } from 'react'
import { blobLink, Failure, get, query, questPath, withdraw } from '../../api/client'
import { usePages } from '../../api/pages'
import type { Conversation, Delivery, Utterance } from '../../api/types'
import { useLive, useQuestResource } from '../../live/context'
import { Outside, useDeliveries } from './outside'
import { Review } from './review'
import { questLink } from '../../route'
import { Markdown } from '../../text/markdown'
import { visible, Words } from '../../text/plain'
import { MeasuredList } from '../../ui/measured'
import { Badge, bytes, count, moment } from '../../ui/show'
import { Broken } from '../../ui/states'
import type { Scroller } from '../../ui/virtual'

const size = 50
const guess = 96

/** useTalk reads where a study stands, and the last that was said. */
export const useTalk = (name: string) => useQuestResource<Conversation>(questPath(name, `/conversation${query({ tail: 1 })}`))

// How far a message came can still change while it is queued, and a review while a point of it is open.
const settled = (said: Utterance[]) => said.length === size
  && said.every((u) => u.delivery !== 'queued' && (u.review?.points ?? []).every((p) => p.how))

/** Chat is all that was said in a study, the newest in view; only what is near the window is read and drawn. */
export function Chat({ quest, total, again }: { quest: string; total: number; again: () => void }) {
  const { snapshot } = useLive()
  const path = questPath(quest, '/conversation')
  const pages = usePages<Utterance>(size, async (index, gone) => {
    const { utterances } = await get<Conversation>(`${path}${query({ after: index * size - 1, limit: size })}`, gone)
    return { rows: utterances, settled: settled(utterances) }
  }, path, `${snapshot.version} ${total}`)
  const sent = useDeliveries(quest)
  const list = useRef<Scroller>(null)
  const need = useCallback((first: number, last: number) => pages.want(first, Math.min(last, total - 1)), [pages, total])
  const live = [...snapshot.saying].filter(([, s]) => !s.over && s.text)
  if (pages.failure && total <= size && !pages.at(0)) return <Broken failure={pages.failure} again={() => pages.again()} />
  return (
    <div className="chat">
      {total > size && (
        <p className="row small between">
          <span className="muted num">{count(total)} were said</span>
          <span className="row"><button className="button small" onClick={() => list.current?.show(0)}>First</button>
            <button className="button small" onClick={() => list.current?.end()}>Newest</button></span>
        </p>
      )}
      <MeasuredList ref={list} own follow className="said" count={total + live.length} guess={guess} label="What was said" onRange={need}
        row={(n) => {
          const [agent, saying] = live[n - total] ?? []
          if (agent && saying) return <Writing agent={agent} text={saying.text} />
          const u = pages.at(n)
          return u && <One quest={quest} said={u} sent={sent.get(u.seq)} again={() => { pages.again(); again() }} />
        }} />
    </div>
  )
}

const Writing = ({ agent, text }: { agent: string; text: string }) => (
  <div className="utterance theirs" aria-live="off">
    <p className="row small who"><b>{agent}</b><span className="muted pulse">is writing</span></p>
    <p className="told">{visible(text)}</p>
  </div>
)

const marks: Record<NonNullable<Utterance['delivery']>, [string, string, string]> = {
  queued: ['warn', 'queued', 'Nobody has heard it yet.'],
  delivered: ['good', 'delivered', 'The researcher has it.'],
  withdrawn: ['', 'taken back', 'Nobody ever hears it.'],
}

const tones: Record<string, string | undefined> = { decision_request: 'asks', milestone: 'good', answer: 'good' }

const people = new Set<Utterance['kind']>(['message', 'answer'])

function One({ quest, said: u, sent, again }: { quest: string; said: Utterance; sent?: Delivery[]; again: () => void }) {
  const link = <a className="muted num" href={questLink(quest, 'timeline', { seq: u.seq })} title={`Event ${u.seq}, ${moment(u.time)}`}>{u.seq}</a>
  if (u.kind === 'news') {
    return <div className="utterance news small muted"><Words>{u.by}</Words> <Words>{u.text}</Words> {link} {sent && <Outside sent={sent} />}</div>
  }
  const mine = people.has(u.kind)
  const [tone, mark, about] = u.delivery ? marks[u.delivery] : ['', '', '']
  return (
    <article className={`utterance ${mine ? 'mine' : 'theirs'} ${u.delivery ?? ''}`}>
      <p className="row small who">
        <b>{mine ? (u.sender ? <Words>{u.sender}</Words> : 'you') : <Words>{u.by}</Words>}</b>
        {u.source && <span className="muted">by <Words>{u.source}</Words></span>}
        {u.label && <Badge tone={tones[u.label]}>{visible(u.label.replaceAll('_', ' '))}</Badge>}
        {u.kind === 'answer' && <Badge>answer</Badge>}
        {u.kind === 'review' && <Badge>review</Badge>}
        {u.document && <a className="badge" href={questLink(quest, 'records', { document: u.document })}>new text of {visible(u.document)}</a>}
        {mark && <span className={`badge ${tone}`} title={about}>{mark}</span>}
        {u.reply && <a className="muted" href={questLink(quest, 'timeline', { seq: u.reply })}>to {u.reply}</a>}
        <time className="muted num" dateTime={u.time}>{moment(u.time)}</time>
        {link}
        {u.delivery === 'queued' && !u.document && <Back quest={quest} message={u.seq} again={again} />}
      </p>
      {sent && <Outside sent={sent} />}
      {mine ? <p className="told">{visible(u.text)}</p> : <Markdown text={u.text} />}
      {u.review && <Review quest={quest} of={u.review} />}
      {u.ref && <a className="small" href={blobLink(u.ref.hash, 'text.txt')}>all of it, {bytes(u.ref.size)}</a>}
      {(u.attachments ?? []).map((a, i) => <p key={i} className="small"><a href={blobLink(a.ref.hash, a.name ?? 'file')} download={a.name ?? 'file'}>
        {visible(a.name ?? 'file')}</a> <span className="muted num">{bytes(a.ref.size)}</span></p>)}
      {(u.files ?? []).map((f) => <p key={f} className="small mono">{visible(f)}</p>)}
    </article>
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
