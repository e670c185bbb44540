import { useCallback, useRef, useState } from 'react'
import { agentPath, get } from '../../api/client'
import { usePages, type Pages } from '../../api/pages'
import type { Message, Transcript } from '../../api/types'
import { useLive } from '../../live/context'
import type { Saying } from '../../live/stream'
import { questLink } from '../../route'
import { visible } from '../../text/plain'
import { MeasuredList } from '../../ui/measured'
import { Broken, Empty } from '../../ui/states'
import { clock, count, money, short } from '../../ui/show'
import type { Scroller } from '../../ui/virtual'
import { PartView, type Folds } from './part'

const size = 50
const guess = 130

// A message can still change while a call of it has not come back.
const settled = (messages: Message[]) => messages.length === size && messages.every((m) => m.parts.every((p) => p.kind !== 'tool_call' || p.done))

function useMessages(quest: string, agent: string, total: number) {
  const { snapshot } = useLive()
  const path = agentPath(quest, agent, '/transcript')
  return usePages<Message>(size, async (index, gone) => {
    const { messages } = await get<Transcript>(`${path}?after=${index * size - 1}&limit=${size}`, gone)
    return { rows: messages, settled: settled(messages) }
  }, path, `${snapshot.version} ${total}`)
}

/** TranscriptView is an agent's conversation, all of it; only the messages near the window are read and drawn. */
export function TranscriptView({ quest, agent, total }: { quest: string; agent: string; total: number }) {
  const { snapshot, quest: whole } = useLive()
  const pages = useMessages(quest, agent, total)
  const list = useRef<Scroller>(null)
  const [follow] = useState(whole.data?.running === true)
  // What somebody unfolded stays so when it comes back into the window.
  const folds = useRef<Folds>(new Map())
  const need = useCallback((first: number, last: number) => pages.want(first, last), [pages])
  const said = snapshot.saying.get(agent)
  const saying = said && coming(said, pages, total) ? said : undefined
  if (total === 0 && !saying) {
    return <Empty title="Nothing said yet">An agent that works by rules alone has no transcript; the timeline shows what it did.</Empty>
  }
  if (pages.failure && pages.at(0) === undefined && total <= size) return <Broken failure={pages.failure} again={() => pages.again()} />
  return (
    <div className="transcript">
      {total > 3 && (
        <div className="reading">
          <span className="small muted num">{count(total)} messages</span>
          <button className="button small" onClick={() => list.current?.show(0)}>First</button>
          <button className="button small" onClick={() => list.current?.end()}>Newest</button>
        </div>
      )}
      <MeasuredList key={agent} ref={list} count={total} guess={guess} label={`Messages of ${agent}`} follow={follow} onRange={need}
        row={(n) => { const m = pages.at(n); return m && <One quest={quest} message={m} folds={folds.current} /> }} />
      {saying && <Live agent={agent} saying={saying} />}
    </div>
  )
}

// What was said stands there until the message takes its place, or the page would shrink under who reads.
function coming(said: Saying, pages: Pages<Message>, total: number): boolean {
  if (!said.over) return true
  for (let n = total - 1; n >= Math.max(0, total - size); n--) {
    const message = pages.at(n)
    if (message) return message.seq <= said.to
  }
  return false
}

/** Live is what the agent is saying; its event takes the place of this. */
function Live({ agent, saying }: { agent: string; saying: Saying }) {
  return (
    <div className="message assistant live" aria-label={`${agent} is saying`} role="group" aria-live="off">
      <header className="row small muted"><b className="pulse">now</b></header>
      {saying.thinking && <p className="thought-text">{visible(saying.thinking)}</p>}
      {saying.text && <p className="said-text">{visible(saying.text)}</p>}
      {saying.call && <p className="mono small muted">{visible(saying.call)}</p>}
    </div>
  )
}

function One({ quest, message, folds }: { quest: string; message: Message; folds: Folds }) {
  const { usage } = message
  return (
    <article className={`message ${message.role}`} aria-label={`Message ${message.number} from ${message.from}`} data-number={message.number}>
      <header className="row small muted">
        <b>{message.from}</b>
        <a className="num" href={questLink(quest, 'timeline', { seq: message.seq })}>event {message.seq}</a>
        <span className="num">{clock(message.time)}</span>
        {usage && <span className="num">{short(usage.input)} tokens in{usage.cached > 0
          && ` (${short(usage.cached)} cached)`}, {short(usage.output)} out</span>}
        {message.cost_usd && Number(message.cost_usd) > 0 && <span className="num">{money(message.cost_usd)}</span>}
      </header>
      {message.error && <p className="note bad">{visible(message.error)}</p>}
      {message.parts.map((part, i) => <PartView key={i} id={`${message.number}/${i}`} folds={folds} quest={quest} part={part} />)}
    </article>
  )
}
