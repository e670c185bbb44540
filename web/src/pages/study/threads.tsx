import { useMemo } from 'react'
import { blobLink, questPath } from '../../api/client'
import type { Interactions, Thread } from '../../api/types'
import { useQuestResource } from '../../live/context'
import { questLink } from '../../route'
import { Markdown } from '../../text/markdown'
import { visible, Words } from '../../text/plain'
import { MeasuredList } from '../../ui/measured'
import { Badge, bytes, When } from '../../ui/show'
import { Empty, Ready } from '../../ui/states'
import { recordWords } from '../quest/links'

const marks: Record<Thread['status'], [string, string]> = {
  open: ['asks', 'waits for an answer'], answered: ['good', 'answered'], superseded: ['', 'a newer question took its place'],
  expired: ['warn', 'nobody answered in time'], withdrawn: ['', 'taken back'], said: ['', ''],
}

/** Threads are what people were told and asked, each with what came back to it, the newest first. */
export function Threads({ name }: { name: string }) {
  const list = useQuestResource<Interactions>(questPath(name, '/interactions'))
  return (
    <Ready of={list} what="what was told and asked">{({ threads }) => (threads.length === 0
      ? <Empty title="Nothing told or asked yet">What the researcher says to people, and asks of them, is shown here with what they answer.</Empty>
      : <MeasuredList className="threads" count={threads.length} guess={130} label="What was told and asked"
        row={(n) => threads[n] && <One name={name} thread={threads[n]} />} />)}</Ready>
  )
}

function One({ name, thread: t }: { name: string; thread: Thread }) {
  const [tone, mark] = marks[t.status]
  const words = useMemo(() => ({ word: recordWords(name) }), [name])
  return (
    <article className="card stack tight thread">
      <p className="row small"><b><Words>{t.by}</Words></b><Badge>{visible(t.kind.replaceAll('_', ' '))}</Badge>{mark && <Badge tone={tone}>{mark}</Badge>}
        <span className="muted"><When time={t.time} /></span><a className="muted num" href={questLink(name, 'timeline', { seq: t.seq })}>event {t.seq}</a></p>
      <Markdown text={t.text} context={words} />
      {t.ref && <a className="small" href={blobLink(t.ref.hash, 'text.txt')}>all of it, {bytes(t.ref.size)}</a>}
      {t.options.length > 0 && <p className="row small"><span className="muted">to choose from</span>
        {t.options.map((o) => <Badge key={o}>{visible(o)}</Badge>)}</p>}
      {t.status === 'open' && <div><a className="button small first" href={questLink(name, 'talk')}>Answer it</a></div>}
      {t.replies.length > 0 && <ul className="replies">{t.replies.map((r) => <li key={r.seq}><span className="small muted"><Words>{r.by}</Words>,{' '}
        <a className="num" href={questLink(name, 'timeline', { seq: r.seq })}>event {r.seq}</a></span><span>{visible(r.text)}</span></li>)}</ul>}
    </article>
  )
}
