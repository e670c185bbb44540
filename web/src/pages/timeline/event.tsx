import { useState } from 'react'
import { blobLink, getText, questPath } from '../../api/client'
import { useResource } from '../../api/resource'
import type { Brief, EventDetail } from '../../api/types'
import { questLink } from '../../route'
import { lineHash, rawLines } from '../../text/hash'
import { visible } from '../../text/plain'
import { bytes } from '../../ui/show'
import { Ready } from '../../ui/states'
import { useVerdict, Verified } from '../../ui/verified'
import { Fork } from '../quest/fork'

type Props = { quest: string; seq: number; head: number; onClose: () => void; onGo: (seq: number) => void }

/** EventPanel is one event: what it says, where it came from, what it led to, and whether it is what was written. */
export function EventPanel({ quest, seq, head, onClose, onGo }: Props) {
  const event = useResource<EventDetail>(questPath(quest, `/events/${seq}`))
  const [forking, setForking] = useState(false)
  return (
    <aside className="event-panel" aria-label={`Event ${seq}`}>
      <div className="row between">
        <h2>Event {seq}</h2>
        <div className="row">
          <button className="button small" disabled={seq <= 1} onClick={() => onGo(seq - 1)} aria-label="The event before">‹</button>
          <button className="button small" disabled={seq >= head} onClick={() => onGo(seq + 1)} aria-label="The event after">›</button>
          <button className="button small" onClick={() => setForking(true)}>Fork here</button>
          <button className="button small quiet" onClick={onClose} aria-label="Close the panel">✕</button>
        </div>
      </div>
      <Ready of={event} what={`event ${seq}`}>{(e) => <Shown quest={quest} detail={e} onGo={onGo} />}</Ready>
      {forking && <Fork quest={quest} at={seq} head={head} onClose={() => setForking(false)} />}
    </aside>
  )
}

// The hash of the event before is taken from that event's own line.
async function compute(quest: string, seq: number): Promise<string> {
  const page = await getText(questPath(quest, `/events?after=${Math.max(0, seq - 2)}&limit=${seq === 1 ? 1 : 2}`))
  const lines = rawLines(page)
  const line = lines.at(-1)
  if (line === undefined) throw new Error('the server did not send the line')
  const before = lines.length > 1 ? (JSON.parse(lines[0] ?? '{}') as { hash: string }).hash : ''
  return lineHash(before, line)
}

function Shown({ quest, detail, onGo }: { quest: string; detail: EventDetail; onGo: (seq: number) => void }) {
  const { event } = detail
  const verdict = useVerdict(event.hash, () => compute(quest, event.seq), `${quest}/${event.seq}/${event.hash}`)
  return (
    <div className="stack">
      <dl className="facts">
        <dt>type</dt><dd className="mono">{event.type}</dd>
        <dt>kind</dt><dd>{detail.input ? 'input: it came from outside the rules' : 'derived: replay computes it again'}</dd>
        <dt>actor</dt><dd>{event.actor}</dd>
        <dt>says</dt><dd>{visible(detail.line)}</dd>
        {event.tool && <><dt>tool</dt><dd className="mono">{event.tool}</dd></>}
        <dt>time</dt><dd className="num">{event.time}</dd>
        <dt>hash</dt><dd><Verified hash={event.hash} verdict={verdict} of="the ledger line and the hash before" /></dd>
      </dl>
      <section className="stack tight"><h3>Cause</h3>{detail.cause ? <Chain events={[detail.cause]} onGo={onGo} />
        : <p className="small muted">None: it stands at the beginning of something.</p>}</section>
      <section className="stack tight"><h3>Effects</h3>{detail.effects.length > 0 ? <Chain events={detail.effects} onGo={onGo} />
        : <p className="small muted">None.</p>}</section>
      {detail.refs.length > 0 && (
        <section className="stack tight"><h3>Blobs</h3>
          <ul className="small">{detail.refs.map((r) => <li key={r.hash}><a className="mono" href={blobLink(r.hash)}>
            {r.hash.slice(0, 16)}…</a> {bytes(r.size)}</li>)}</ul>
        </section>
      )}
      <section className="stack tight"><h3>Body</h3><pre className="pre" tabIndex={0}>{visible(JSON.stringify(event.body, null, 2))}</pre></section>
      {'ref' in event.body && typeof event.body.ref === 'string' && /^[0-9a-f]{32}$/.test(event.body.ref)
        && <a className="small" href={questLink(quest, `papers/${event.body.ref}`)}>The paper</a>}
    </div>
  )
}

function Chain({ events, onGo }: { events: Brief[]; onGo: (seq: number) => void }) {
  return (
    <ul className="chain">
      {events.map((e) => <li key={e.seq}><button className="link" onClick={() => onGo(e.seq)}><span className="num">{e.seq}</span> {e.type}
        {e.tool && ` ${e.tool}`}</button> <span className="muted">{e.actor} {visible(e.line)}</span></li>)}
    </ul>
  )
}
