import { useMemo } from 'react'
import type { StageNode } from '../../api/types'
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

type Props = { nodes: StageNode[]; stages: string[]; lanes: Lane[]; view: View; chosen: string; found?: ReadonlySet<string>; onChoose: (id: string) => void }

/** StageCells are the lines of work by the stages they went through, with how much came of each. */
export function StageCells({ nodes, stages, lanes, view, chosen, found, onChoose }: Props) {
  const rows = useMemo(() => new Map(lanes.map((l) => [l.ref, l.row])), [lanes])
  return (
    <>
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
