import { useMemo } from 'react'
import type { Edge, Node } from '../../api/types'
import { questLink } from '../../route'
import { visible } from '../../text/plain'
import { Badge } from '../../ui/show'
import { statusAt, type Graph } from './graph'
import { closure, type Grouped } from './group'
import { toneOf } from './node'

type Props = { quest: string; graph: Graph; grouped: Grouped; node: Node; at: number; onGo: (id: string) => void; onClose: () => void }

const outward: Record<Edge['kind'], string> = {
  cites: 'cites', reviews: 'reviews', revises: 'revises', votes: 'votes for', awards: 'awards', bids: 'bids for', supports: 'supports',
  attacks: 'attacks', 'caused-by': 'caused by', wrote: 'wrote', evidence: 'is evidence for', decision: 'decided', compares: 'is compared with',
  supersedes: 'replaces',
}
const inward: Record<Edge['kind'], string> = {
  cites: 'cited by', reviews: 'reviewed by', revises: 'revised by', votes: 'has the vote of', awards: 'awarded by', bids: 'has the bid',
    supports: 'supported by',
  attacks: 'attacked by', 'caused-by': 'led to', wrote: 'written by', evidence: 'rests on', decision: 'was decided by', compares: 'is held against it:',
  supersedes: 'was replaced by',
}

// task:add and handover:add/2 lead to the task; a run's number stands behind the last slash.
function taskLink(quest: string, id: string): string {
  const rest = id.slice(id.indexOf(':') + 1)
  const [, task, run] = id.startsWith('handover:') ? (/^(.*)\/(\d+)$/s.exec(rest) ?? []) : []
  return questLink(quest, 'tasks', { task: task ?? rest, run })
}

/** Panel tells of one node, and its edges lead on to others. */
export function Panel({ quest, graph, grouped, node, at, onGo, onClose }: Props) {
  const status = statusAt(node, at)
  const { up, down } = useMemo(() => closure(graph, grouped, node.id), [graph, grouped, node.id])
  const edges = [...graph.edges.values()].filter((e) => (e.from === node.id || e.to === node.id) && e.seq <= at)
  return (
    <aside className="canvas-panel" aria-label={`About this ${node.kind}`}>
      <div className="row between"><span className="small muted">{node.kind}</span>
        <button className="button small quiet" onClick={onClose} aria-label="Close the panel">✕</button></div>
      <h2>{visible(node.label)}</h2>
      <div className="row">{status && <Badge tone={toneOf(status) === 'open' ? 'warn' : toneOf(status)}>{status.toLowerCase()}</Badge>}
        {node.agent && <a className="small" href={questLink(quest, `agents/${node.agent}`)}>{node.agent}</a>}</div>
      {node.kind !== 'agent' && <p className="small muted rests">Rests on {up.size}, near and far; {down.size} {down.size === 1 ? 'rests' : 'rest'} on it.</p>}
      {node.says && <p className="small"><span className="muted">says</span> {visible(node.says)}</p>}
      {node.detail && <p className="small">{visible(node.detail)}</p>}
      <div className="row">
        {node.ref && <a className="button small" href={questLink(quest, `papers/${node.ref}`)}>Read the paper</a>}
        {(node.kind === 'task' || node.kind === 'handover') && <a className="button small" href={taskLink(quest, node.id)}>The task</a>}
        {node.kind === 'claim' && <a className="button small" href={questLink(quest, 'evidence', { claim: node.id.split(':')[1] })}>Its evidence</a>}
        {node.kind === 'source' && <a className="button small" href={questLink(quest, 'evidence', { source: node.id.split(':')[1] })}>The source</a>}
        {node.seq > 0 && <a className="button small" href={questLink(quest, 'timeline', { seq: node.seq })}>Event {node.seq}</a>}
      </div>
      {edges.length > 0 && (
        <ul className="edges">
          {edges.slice(0, 200).map((e) => {
            const out = e.from === node.id
            const other = graph.nodes.get(out ? e.to : e.from)
            if (!other) return null
            return (
              <li key={e.id}>
                <span className="muted">{out ? outward[e.kind] : inward[e.kind]}{e.until !== undefined && e.until <= at && ' (before)'}</span>
                <button className="link" onClick={() => onGo(other.id)}>{visible(other.label)}</button>
                {e.label && <span className="small muted">{visible(e.label)}</span>}
              </li>
            )
          })}
        </ul>
      )}
    </aside>
  )
}
