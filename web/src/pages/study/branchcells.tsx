import type { BranchNode } from '../../api/types'
import { visible } from '../../text/plain'
import { Badge, several, When } from '../../ui/show'
import { digits, figure, linear } from '../../ui/scale'
import type { Lane } from './lanes'
import type { View } from './sheet'

/** What the branches are measured by: one metric, the baseline's value and its tolerance. */
export type Measure = { name: string; unit?: string; better: 'higher' | 'lower'; level?: number; room: number; values: number[] }

const key = (b: BranchNode) => (b.latest_metric ? [b.latest_metric.name, b.latest_metric.unit ?? '', b.latest_metric.direction].join('\n') : '')

/** measures are the metrics that branches have, the most common first; the level is that of the last baseline that was verified, or of the last one. */
export function measures(nodes: readonly BranchNode[]): Measure[] {
  const all = new Map<string, BranchNode[]>()
  for (const n of nodes) if (n.latest_metric) all.set(key(n), [...(all.get(key(n)) ?? []), n])
  return [...all.values()].sort((a, b) => b.length - a.length).map((of) => {
    const m = of[0]?.latest_metric
    const bases = of.filter((n) => n.run_kind === 'baseline')
    const level = (bases.findLast((n) => n.latest_metric?.verdict === 'verified') ?? bases.at(-1))?.latest_metric
    return {
      name: m?.name ?? '', unit: m?.unit || undefined, better: m?.direction ?? 'lower', level: level && Number(level.value),
      room: Number(level?.tolerance ?? 0) || 0, values: of.map((n) => Number(n.latest_metric?.value)),
    }
  })
}

/** strip is how wide the place is in which values are drawn. */
export const strip = 240
export const branchWide = strip + 420

const outcomes: Record<string, [string, string]> = {
  better: ['good', 'better'], worse: ['bad', 'worse'], tie: ['', 'tie'], 'not comparable': ['warn', 'not comparable'],
}

const axis = (m: Measure) => linear([...m.values, ...(m.level === undefined ? [] : [m.level - m.room, m.level + m.room])], 14, strip - 14, 3)

/** BranchTop is the axis of the values. */
export function BranchTop({ measure: m }: { measure?: Measure }) {
  if (!m) return <span className="small muted branch-axis bare">no figures yet</span>
  const x = axis(m)
  return (
    <span className="branch-axis">
      <svg width={strip} height={34} aria-hidden="true">
        {x.ticks.map((t) => <text key={t} x={x.at(t)} y={28} textAnchor="middle">{figure(t, digits(x.ticks))}</text>)}
        <text x={14} y={12}>{`${m.name}${m.unit ? ` in ${m.unit}` : ''}, ${m.better} is better`}</text>
      </svg>
    </span>
  )
}

/** BranchCells are the figures of branches on one axis, and how they stand. */
export function BranchCells({ lanes, high, view, measure: m, faint, onChoose }: {
  lanes: Lane[]; high: number; view: View; measure?: Measure; faint: (ref: string) => boolean; onChoose: (ref: string) => void
}) {
  const x = m && axis(m)
  const near = lanes.filter((l) => (l.row + 1) * high >= view.top && l.row * high <= view.bottom)
  const level = m?.level
  return (
    <>
      {x && level !== undefined && <div className="level-line" style={{ left: x.at(level), height: lanes.length * high }} />}
      {x && level !== undefined && m.room > 0 && <div className="level-band"
        style={{ left: x.at(level - m.room), width: x.at(level + m.room) - x.at(level - m.room), height: lanes.length * high }} />}
      {near.map((l) => <Cell key={l.ref} lane={l} high={high} at={x?.at} measure={m} faint={faint(l.ref)} onChoose={onChoose} />)}
    </>
  )
}

type CellProps = { lane: Lane; high: number; at?: (v: number) => number; measure?: Measure; faint: boolean; onChoose: (ref: string) => void }

function Cell({ lane: l, high, at, measure: m, faint, onChoose }: CellProps) {
  const { node } = l
  const metric = node.latest_metric
  const same = m && metric && metric.name === m.name && (metric.unit || undefined) === m.unit && metric.direction === m.better
  const [tone, words] = outcomes[metric?.outcome ?? ''] ?? ['', '']
  return (
    <div className={`branch-cell ${faint ? 'faint' : ''}`} style={{ top: l.row * high, height: high }} onClick={() => onChoose(l.ref)}>
      <span className="strip">{same && at && <i className={`dot ${metric.verdict ?? ''}`} style={{ left: at(Number(metric.value)) }} />}</span>
      <span className="row">
        {metric && <b className="num">{!same && <span className="muted">{visible(metric.name)} </span>}{visible(metric.value)}</b>}
        {words && <Badge tone={tone}>{words}</Badge>}
        {metric?.verdict && metric.verdict !== 'verified' && <Badge tone="warn">{visible(metric.verdict)}</Badge>}
        <span className="small muted num">{several(node.commit_count, 'checkpoint')}{node.behind > 0 && `, ${node.behind} behind`}
          {node.updated_at && <> · <When time={node.updated_at} /></>}</span>
      </span>
    </div>
  )
}
