import { useState } from 'react'
import { questPath } from '../../api/client'
import type { Detail, Feed as Answer } from '../../api/types'
import { useQuestResource } from '../../live/context'
import { questLink } from '../../route'
import { societyOf } from '../../society'
import { visible } from '../../text/plain'
import { clock, count, several } from '../../ui/show'
import { Ready } from '../../ui/states'
import './feed.css'

type Matter = Answer['items'][number]

// A shape and a word for each, so that colour only helps.
const marks: Record<Matter['what'], [shape: string, tone: string, word?: string]> = {
  published: ['●', 'good'], accepted: ['✓', 'good'], answered: ['★', 'good'], rejected: ['✕', 'bad'], refused: ['⊘', 'warn'], failed: ['!', 'bad'],
  asked: ['?', 'asks'], voted: ['▲', ''], judged: ['◆', ''], moved: ['→', ''], limit: ['▮', 'warn'], rested: ['‖', 'warn', 'paused'], parked: ['□', ''],
}

const few = 30
const most = 200

/** Feed is what somebody who comes back wants to see first, the newest on top; it grows while one looks. What belongs into it the server says. */
export function Feed({ quest }: { quest: Detail }) {
  const [limit, setLimit] = useState(few)
  const feed = useQuestResource<Answer>(questPath(quest.name, `/feed?limit=${limit}`))
  return (
    <section className="card feed" aria-labelledby="feed">
      <div className="row between">
        <h2 id="feed">What matters</h2>
        {feed.data && feed.data.all > 0 && <span className="small muted num">{count(feed.data.all)} of {several(feed.data.head, 'event')}</span>}
      </div>
      <Ready of={feed} what="what matters">{({ items, all }) => (items.length === 0
        ? <p className="muted">Nothing yet: papers, votes, refusals, failures and questions to you appear here as they come.</p>
        : <div className="feed-scroll" tabIndex={0} role="group" aria-label="What matters, the newest first">
            <ol>{items.map((m) => <Row key={m.seq} quest={quest} matter={m} />)}</ol>
            {all > items.length && (limit < most ? <button className="link small" onClick={() => setLimit(most)}>Show older ones</button>
              : <a className="small" href={questLink(quest.name, 'timeline')}>All events are on the timeline</a>)}
          </div>)}</Ready>
    </section>
  )
}

function Row({ quest, matter: m }: { quest: Detail; matter: Matter }) {
  const [shape, tone, word = m.what] = marks[m.what]
  const to = (m.of && societyOf(quest.society).thing?.(quest.name, m.of)) || questLink(quest.name, 'timeline', { seq: m.seq })
  return (
    <li>
      <time className="num muted" dateTime={m.time}>{clock(m.time)}</time>
      <span className={`what-kind ${tone && `tone-${tone}`}`}><span aria-hidden="true">{shape} </span>{word}</span>
      <span className="what-line"><a href={to}>{visible(m.line)}</a>{m.actor && <span className="muted"> {visible(m.actor)}</span>}</span>
    </li>
  )
}
