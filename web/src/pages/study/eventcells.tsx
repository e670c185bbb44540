import { useMemo, type KeyboardEvent } from 'react'
import type { EventNode, StudyEdge } from '../../api/types'
import { visible } from '../../text/plain'
import type { Chip } from './lanes'
import { toneOf } from './results'
import type { View } from './sheet'

export const eventHigh = 76
export const eventWide = 178
const chipWide = 158
const middle = 29 // of a chip

type Props = {
  chips: Chip[]; edges: StudyEdge[]; view: View; chosen: string; found?: ReadonlySet<string>; onChoose: (id: string) => void
}

/** marks are letters of kinds: what a chip is can be told without reading it, and without colour. */
const marks: Record<string, string> = {
  baseline: 'B', idea: 'I', decision: 'D', progress: '·', answer: 'A', milestone: 'M', run: 'R', report: 'P', approval: 'OK', graph: 'G', campaign: 'C',
  outline: 'O', paper: 'P', review: 'V',
}

const places = (c: Chip) => ({ x: c.column * eventWide + 10, y: c.row * eventHigh + 10 })

/** EventCells are what came of the work, on the lines of work where it did, with the reasons between them. */
export function EventCells({ chips, edges, view, chosen, found, onChoose }: Props) {
  const byID = useMemo(() => new Map(chips.map((c) => [c.id, c])), [chips])
  const rows = useMemo(() => {
    const out = new Map<number, Chip[]>()
    for (const c of chips) {
      const row = out.get(c.row)
      if (row) row.push(c)
      else out.set(c.row, [c])
    }
    return out
  }, [chips])
  const near: Chip[] = []
  for (let row = Math.max(0, Math.floor(view.top / eventHigh)); row * eventHigh <= view.bottom; row++) {
    for (const c of rows.get(row) ?? []) if ((c.column + 1) * eventWide >= view.left && c.column * eventWide <= view.right) near.push(c)
    if (row > chips.length) break
  }
  const held = byID.get(chosen)
  if (held && !near.includes(held)) near.push(held)
  const key = (event: KeyboardEvent, c: Chip) => {
    const row = { ArrowUp: c.row - 1, ArrowDown: c.row + 1 }[event.key]
    const column = { ArrowLeft: c.column - 1, ArrowRight: c.column + 1 }[event.key]
    if (row === undefined && column === undefined) return
    event.preventDefault()
    const next = column !== undefined ? beside(rows.get(c.row) ?? [], c, Math.sign(column - c.column)) : closest(rows.get(row ?? 0) ?? [], c.column)
    if (next) onChoose(next.id)
  }
  return (
    <>
      <Edges edges={edges} byID={byID} view={view} chosen={chosen} found={found} />
      {near.map((c) => <One key={c.id} chip={c} chosen={c.id === chosen} faint={found !== undefined && !found.has(c.id)} onChoose={onChoose} onKey={key} />)}
    </>
  )
}

const beside = (row: Chip[], c: Chip, by: number) => row[row.indexOf(c) + by]

const closest = (row: Chip[], column: number) =>
  row.reduce<Chip | undefined>((held, c) => (!held || Math.abs(c.column - column) < Math.abs(held.column - column) ? c : held), undefined)

type OneProps = { chip: Chip; chosen: boolean; faint: boolean; onChoose: (id: string) => void; onKey: (event: KeyboardEvent, c: Chip) => void }

function One({ chip, chosen, faint, onChoose, onKey }: OneProps) {
  const { event: e } = chip
  const { x, y } = places(chip)
  const status = statusOf(e)
  return (
    <button className={`chip ${toneOf(status)} ${e.open ? 'under-way' : ''} ${chosen ? 'chosen' : ''} ${faint ? 'faint' : ''}`} aria-pressed={chosen}
      style={{ left: x, top: y, width: chipWide }} onClick={() => onChoose(chosen ? '' : chip.id)} onKeyDown={(event) => onKey(event, chip)} data-id={chip.id}
      ref={(b) => { if (b && chosen && document.activeElement?.classList.contains('chip')) b.focus({ preventScroll: true }) }}>
      <span className="mark" aria-hidden="true">{marks[e.kind] ?? '?'}</span>
      <span className="words"><span className="title">{visible(e.title)}</span>
        <span className="clip small muted">{e.kind}{status && `, ${status}`}<span className="hidden-label"> on {visible(e.branch)}</span></span></span>
    </button>
  )
}

const statusOf = (e: EventNode) => (e.open ? 'under way' : e.artifact?.verdict ?? '')

// An edge goes from the end of one to the begin of the other. What an edge of the chosen one is stands at its other end.
function Edges({ edges, byID, view, chosen, found }: { edges: StudyEdge[]; byID: Map<string, Chip>; view: View; chosen: string; found?: ReadonlySet<string> }) {
  const drawn = []
  const why = new Map<Chip, Set<string>>()
  for (const edge of edges) {
    const a = byID.get(edge.from)
    const b = byID.get(edge.to)
    if (!a || !b) continue
    const [old, young] = a.column <= b.column ? [a, b] : [b, a]
    const from = places(old)
    const to = places(young)
    if (to.x < view.left || from.x + chipWide > view.right) continue
    if (Math.max(from.y, to.y) + eventHigh < view.top || Math.min(from.y, to.y) > view.bottom) continue
    const x1 = from.x + chipWide - view.left
    const x2 = to.x - view.left
    const y1 = from.y + middle - view.top
    const y2 = to.y + middle - view.top
    const touched = edge.from === chosen || edge.to === chosen
    const bend = Math.min(60, Math.max(10, (x2 - x1) / 2))
    const path = old.row === young.row && young.column - old.column > 1 ? `M${x1} ${y1}C${x1 + 20} ${y1 + 42} ${x2 - 20} ${y1 + 42} ${x2} ${y2}`
      : `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`
    drawn.push(<path key={edge.id} className={`trace ${edge.kind} ${touched ? 'touched' : ''} ${found && !touched ? 'faint' : ''}`} d={path} />)
    const other = edge.from === chosen ? b : a
    if (touched && edge.kind !== 'sequence') why.set(other, (why.get(other) ?? new Set()).add(edge.kind))
  }
  const size = { width: view.right - view.left, height: view.bottom - view.top, style: { left: view.left, top: view.top } }
  return (
    <>
      <svg className="traces" {...size} aria-hidden="true">{drawn}</svg>
      <svg className="traces above" {...size} aria-hidden="true">
        {[...why].map(([c, kinds]) => <text key={c.id} x={places(c).x + 4 - view.left} y={places(c).y - 4 - view.top}>{[...kinds].join(', ')}</text>)}</svg>
    </>
  )
}
