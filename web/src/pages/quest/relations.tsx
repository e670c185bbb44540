import { questPath } from '../../api/client'
import { useResource } from '../../api/resource'
import type { Detail, Relations as Noted } from '../../api/types'
import { visible } from '../../text/plain'
import { Ready } from '../../ui/states'
import { Badge } from '../../ui/show'

const tones = { pending: '', in_progress: 'warn', done: 'good', failed: 'bad' } as const

/** Relations are what agents noted about how things belong together: each below what it is part of. */
export function Relations({ quest }: { quest: Detail }) {
  const noted = useResource<Noted>(quest.related ? questPath(quest.name, '/relations') : null, quest.events)
  if (!quest.related) return null
  return (
    <section className="card relations" aria-labelledby="relations">
      <h2 id="relations">What belongs together</h2>
      <Ready of={noted} what="what agents noted">{({ nodes }) => (
        <ul>{nodes.map((n) => (
          <li key={n.id} style={{ paddingInlineStart: `${Math.min(n.depth, 8)}em` }}>
            <span className="muted">{visible(n.type)}</span> {visible(n.description || n.id)} <Badge tone={tones[n.status]}>{n.status.replace('_', ' ')}</Badge>
          </li>
        ))}</ul>
      )}</Ready>
    </section>
  )
}
