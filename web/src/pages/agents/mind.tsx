import type { Mind } from '../../api/types'
import { questLink } from '../../route'
import { visible } from '../../text/plain'
import { Badge } from '../../ui/show'
import { Empty } from '../../ui/states'

/** MindView is what an agent believes, wants and intends, and why. */
export function MindView({ quest, mind }: { quest: string; mind: Mind }) {
  if (mind.beliefs.length + mind.desires.length + mind.intentions.length === 0) {
    return <Empty title="Nothing written down">Only the agents of a contract net record beliefs, desires and intentions.</Empty>
  }
  const event = (seq: number) => <a className="small num" href={questLink(quest, 'timeline', { seq })}>event {seq}</a>
  return (
    <div className="columns mind">
      <section className="stack tight"><h3>Beliefs</h3>
        {mind.beliefs.map((b) => <div className="card" key={b.seq}><p><b>{visible(b.belief)}</b> {visible(b.value)}</p><p className="small muted">
          {visible(b.reason)}</p>{event(b.seq)}</div>)}
      </section>
      <section className="stack tight"><h3>Desires</h3>
        {mind.desires.map((d) => <div className="card" key={d.seq}><p>{visible(d.desire)}</p><p className="small muted">{visible(d.reason)}</p>
          {event(d.seq)}</div>)}
      </section>
      <section className="stack tight"><h3>Intentions</h3>
        {mind.intentions.map((i) => (
          <div className="card" key={i.seq}><p><b>{visible(i.intention)}</b> {i.dropped && <Badge tone="warn">dropped</Badge>}</p>
            <p className="small muted">{visible(i.reason)}</p>
            {i.words.length > 0 && <p className="row">{i.words.map((w) => <Badge key={w}>{w}</Badge>)}</p>}{event(i.seq)}</div>
        ))}
      </section>
    </div>
  )
}
