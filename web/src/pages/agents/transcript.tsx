import { useState } from 'react'
import { agentPath, Failure, get } from '../../api/client'
import { useSerial } from '../../api/serial'
import type { Message, Transcript } from '../../api/types'
import { useLive } from '../../live/context'
import { questLink } from '../../route'
import { Broken, Empty, Loading } from '../../ui/states'
import { clock, money, short } from '../../ui/show'
import { PartView } from './part'

const size = 40

/** TranscriptView reads an agent's conversation from its end; what came before is asked for by hand, what comes after comes by itself. */
export function TranscriptView({ quest, agent, total }: { quest: string; agent: string; total: number }) {
  const [messages, setMessages] = useState<Message[]>()
  const [failure, setFailure] = useState<Failure>()
  const { snapshot } = useLive()
  const path = agentPath(quest, agent, '/transcript')
  const load = async (query: string, join: (held: Message[], fresh: Message[]) => Message[]) => {
    try {
      const page = await get<Transcript>(`${path}?${query}&limit=${size}`)
      setMessages((held) => join(held ?? [], page.messages))
      setFailure(undefined)
      return page.next
    } catch (error) {
      setFailure(error instanceof Failure ? error : new Failure(0, '', String(error)))
    }
  }
  // Outputs come into messages that are already shown: the last few are read again.
  useSerial(async () => {
    const end = messages?.at(-1)?.number
    if (end === undefined || end < 4) return void (await load(`tail=${size}`, newer))
    let from: number | undefined = end - 4
    while (from !== undefined) from = await load(`after=${from}`, newer)
  }, path, snapshot.version)
  if (!messages) return failure ? <Broken failure={failure} /> : <Loading what="the transcript" />
  if (messages.length === 0) return <Empty title="Nothing said yet">{total === 0 ? 'An agent that works by rules alone has no transcript; the timeline shows what it did.' : undefined}</Empty>
  const first = messages[0]?.number ?? 0
  return (
    <div className="stack">
      {first > 0 && <div><button className="button" onClick={() => void load(`before=${first}`, (held, fresh) => newer(fresh, held))}>Show what came before ({first})</button></div>}
      {messages.map((m) => <One key={m.number} quest={quest} message={m} />)}
    </div>
  )
}

// By number, each once, the later reading instead of the earlier.
function newer(held: Message[], fresh: Message[]): Message[] {
  const all = new Map(held.map((m) => [m.number, m]))
  for (const m of fresh) all.set(m.number, m)
  return [...all.values()].sort((a, b) => a.number - b.number)
}

function One({ quest, message }: { quest: string; message: Message }) {
  const { usage } = message
  return (
    <article className={`message ${message.role}`} aria-label={`Message ${message.number} from ${message.from}`}>
      <header className="row small muted">
        <b>{message.from}</b>
        <a className="num" href={questLink(quest, 'timeline', { seq: message.seq })}>event {message.seq}</a>
        <span className="num">{clock(message.time)}</span>
        {usage && <span className="num">{short(usage.input)} in{usage.cached > 0 && ` (${short(usage.cached)} cached)`}, {short(usage.output)} out</span>}
        {message.cost_usd && Number(message.cost_usd) > 0 && <span className="num">{money(message.cost_usd)}</span>}
      </header>
      {message.error && <p className="note bad">{message.error}</p>}
      {message.parts.map((part, i) => <PartView key={i} quest={quest} part={part} />)}
    </article>
  )
}
