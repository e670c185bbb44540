import { useEffect, useMemo } from 'react'
import { questPath } from '../../api/client'
import type { Deliveries, Delivery } from '../../api/types'
import { useQuestResource } from '../../live/context'
import { visible, Words } from '../../text/plain'
import { moment } from '../../ui/show'

const none: Delivery[] = []
// How often what can change without an event is looked at, in milliseconds: what waits is sent, and a person may send again what is dead.
const look = { queued: 3000, dead: 15_000 }

/** useDeliveries are what became of the words that were sent to people elsewhere, by the event that said them. */
export function useDeliveries(quest: string): Map<number, Delivery[]> {
  const { data, again } = useQuestResource<Deliveries>(questPath(quest, '/deliveries'))
  const all = data?.deliveries ?? none
  const has = (state: Delivery['state']) => all.some((d) => d.state === state)
  const wait = has('queued') ? look.queued : has('dead') ? look.dead : 0
  useEffect(() => {
    if (wait === 0) return
    const timer = window.setInterval(() => { if (!document.hidden) again() }, wait)
    return () => window.clearInterval(timer)
  }, [wait, again])
  return useMemo(() => {
    const by = new Map<number, Delivery[]>()
    for (const d of all) by.set(d.said, [...by.get(d.said) ?? [], d])
    return by
  }, [all])
}

const marks: Record<Delivery['state'], [string, string]> = {
  queued: ['warn', 'queued'], sent: ['good', 'sent'], dead: ['bad', 'not delivered'], failed: ['bad', 'not sent'], unknown: ['', 'sent once'],
}

/** Outside are marks of what was said elsewhere too: how far it came, and why not further. */
export const Outside = ({ sent }: { sent: Delivery[] }) => <div className="row small outside">{sent.map((d) => <Mark key={d.seq} of={d} />)}</div>

function Mark({ of: d }: { of: Delivery }) {
  const [tone, word] = marks[d.state]
  const tries = d.state === 'queued' && d.tries > 0 ? `, try ${d.tries + 1}` : ''
  const badge = <span className={`badge ${tone}`} title={about(d)}>{visible(d.connector)}: {word}{tries}</span>
  if (!d.error && !d.retry) return badge
  return (
    <details>
      <summary>{badge}</summary>
      <p>To <Words>{d.conversation}</Words>. {d.error && <>What was wrong: <Words>{d.error}</Words>.</>}{d.next && <> Tried again {moment(d.next)}.</>}
        {d.retry && <> Send it again with <code>{visible(d.retry)}</code></>}</p>
    </details>
  )
}

const about = (d: Delivery) => `To ${visible(d.conversation)}${d.last ? `, ${moment(d.last)}` : ''}`
