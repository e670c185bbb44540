import { useMemo } from 'react'
import type { StageNode, StudyEdge } from '../../api/types'
import { visible } from '../../text/plain'
import { several } from '../../ui/show'
import type { Lane } from './lanes'
import type { View } from './sheet'

export const stageHigh = 66
export const stageWide = 172

/** StageTop are the names of the stages. */
export const StageTop = ({ stages }: { stages: string[] }) => (
  <span className="stage-tops">{stages.map((s) => <b key={s} className="small" style={{ width: stageWide }}>{visible(s)}</b>)}</span>
)

type Props = {
  nodes: StageNode[]; edges: StudyEdge[]; stages: string[]; lanes: Lane[]; view: View; chosen: string; found?: ReadonlySet<string>
  onChoose: (id: string) => void
}

/** StageCells are the lines of work by the stages they went through, with how much came of each. */
export function StageCells({ nodes, edges, stages, lanes, view, chosen, found, onChoose }: Props) {
  const rows = useMemo(() => new Map(lanes.map((l) => [l.ref, l.row])), [lanes])
  return (
    <>
      <Ways nodes={nodes} edges={edges} stages={stages} rows={rows} view={view} chosen={chosen} />
      {nodes.map((n) => {
        const row = rows.get(n.branch)
        const column = stages.indexOf(n.stage)
        if (row === undefined || column < 0 || (row + 1) * stageHigh < view.top || row * stageHigh > view.bottom) return null
        const isChosen = n.selection_ref === chosen
        return (
          <button key={n.selection_ref} data-id={n.selection_ref} aria-pressed={isChosen}
            className={`chip stage ${n.current ? 'here' : ''} ${isChosen ? 'chosen' : ''} ${found && !found.has(n.selection_ref) ? 'faint' : ''}`}
            style={{ left: column * stageWide + 6, top: row * stageHigh + 7, width: stageWide - 14 }}
            onClick={() => onChoose(isChosen ? '' : n.selection_ref)}>
            <Words node={n} />
          </button>
        )
      })}
    </>
  )
}

// In which order a line of work went through its stages: forward from one to the next, or back below them.
function Ways({ nodes, edges, stages, rows, view, chosen }: Pick<Props, 'nodes' | 'edges' | 'stages' | 'view' | 'chosen'> & { rows: Map<string, number> }) {
  const byID = useMemo(() => new Map(nodes.map((n) => [n.selection_ref, n])), [nodes])
  const drawn = []
  for (const edge of edges) {
    const from = byID.get(edge.from)
    const to = byID.get(edge.to)
    const row = rows.get(to?.branch ?? '')
    if (!from || !to || row === undefined || (row + 1) * stageHigh < view.top || row * stageHigh > view.bottom) continue
    const [a, b] = [stages.indexOf(from.stage), stages.indexOf(to.stage)]
    if (a < 0 || b < 0) continue
    const y = row * stageHigh + stageHigh / 2 - view.top
    const x1 = (a + 1) * stageWide - 8 - view.left
    const x2 = b * stageWide + 6 - view.left
    const touched = edge.from === chosen || edge.to === chosen
    const low = y + stageHigh / 2 - 3
    drawn.push(<path key={edge.id} className={`trace way ${touched ? 'touched' : ''}`} d={b === a + 1 ? `M${x1} ${y}H${x2}`
      : b > a ? `M${x1} ${y}C${x1 + 14} ${low} ${x1 + 14} ${low} ${x1 + 26} ${low}H${x2 - 26}C${x2 - 14} ${low} ${x2 - 14} ${low} ${x2} ${y}`
        : `M${x1 - 40} ${y + 23}Q${x1 - 40} ${low} ${x1 - 52} ${low}H${x2 + 52}Q${x2 + 40} ${low} ${x2 + 40} ${y + 23}`} />)
  }
  return <svg className="traces" width={view.right - view.left} height={view.bottom - view.top} style={{ left: view.left, top: view.top }}
    aria-hidden="true">{drawn}</svg>
}

function Words({ node: n }: { node: StageNode }) {
  const made = several(n.events.length, 'artifact')
  return (
    <span className="words">
      <span className="hidden-label">{visible(n.stage)} on {visible(n.branch)} </span>
      <span className="clip">{n.events.length + n.decisions.length === 0 ? 'nothing yet' : visible(n.summary || made)}</span>
      <span className="clip small muted num">{made}{n.decisions.length > 0 && `, ${several(n.decisions.length, 'decision')}`}</span>
    </span>
  )
}
