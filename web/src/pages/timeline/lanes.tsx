import { memo, useMemo, useRef, useState, type KeyboardEvent, type PointerEvent } from 'react'
import type { Lanes as Data } from '../../api/types'
import { flat, visible } from '../../text/plain'
import { timeTicks } from '../../ui/series'
import { duration, several } from '../../ui/show'
import { useWidth } from '../../ui/width'
import './lanes.css'

type Lane = Data['lanes'][number]
type Mark = Lane['marks'][number]['kind']
export type Window = { from: number; to: number }

// Many lanes are drawn closer together.
const highOf = (data: Data) => (data.lanes.length > 12 ? 15 : 20)
const foot = 20

const kinds = ['thinking', 'reviewing', 'tools'] as const

// Marks are told apart by their shapes: each is drawn around its middle.
const shapes: Record<Mark, string> = {
  paper: 'M-4-5h6l3 3v7h-9z', published: 'M0-5a5 5 0 1 0 .01 0zM-2.500 0l2 2l3-4',
  rejected: 'M0-5a5 5 0 1 0 .01 0zM-2.500-2.500l5 5m0-5l-5 5', review: 'M0-5l5 5l-5 5l-5-5z',
  vote: 'M0-5l5 9h-10z', refused: 'M-5-2h10v4h-10z', claim: 'M-4-4h8v8h-8z', challenge: 'M0 5l5-9h-10z', asked: 'M-2-3a2.500 2.500 0 1 1 3 3v1.500m0 2v1',
  message: 'M-5-4h10v6h-6l-3 3v-3h-1z',
  answer: 'M0-6l1.500 4h4.500l-3.500 2.500l1.500 4.500l-4-3l-4 3l1.500-4.500l-3.500-2.500h4.500z', failed: 'M-4-4l8 8m0-8l-8 8',
}
const named: Partial<Record<Mark, string>> = { refused: 'refused by a policy', asked: 'asks a person', message: 'a person’s message', paper: 'paper handed in' }

type Props = {
  data: Data
  /** zoomed says that a stretch was picked; else it is the one in which the agents were at work. */
  zoomed: boolean
  onPick: (window: Window | undefined) => void
  onOpen: (seq: number) => void
}

/** Lanes draw who did what when: an actor a lane. A stretch is picked by dragging, or by + and -, and moved by the arrow keys. */
export function Lanes({ data, zoomed, onPick, onOpen }: Props) {
  const box = useRef<HTMLDivElement>(null)
  const brush = useRef<HTMLDivElement>(null)
  const began = useRef<number>(undefined)
  const wide = useWidth(box)
  const [tip, setTip] = useState<Tip>()
  const left = wide < 560 ? 68 : 104
  const high = highOf(data)
  const { from_us: from, to_us: to, long_us: long } = data
  const span = Math.max(1, to - from)
  const room = Math.max(1, wide - left - 12)
  const part = from > 0 || to < long
  const time = (x: number) => from + (Math.max(0, Math.min(room, x - left)) / room) * span
  const place = (event: PointerEvent) => {
    const frame = box.current?.getBoundingClientRect()
    return { x: event.clientX - (frame?.left ?? 0), y: event.clientY - (frame?.top ?? 0) }
  }
  const paint = (a: number, b: number) => {
    if (!brush.current) return
    brush.current.style.transform = `translateX(${Math.max(left, Math.min(a, b))}px)`
    brush.current.style.width = `${Math.abs(b - a)}px`
  }
  const down = (event: PointerEvent) => {
    const { x } = place(event)
    if (event.button !== 0 || x < left) return
    began.current = x
    event.currentTarget.setPointerCapture(event.pointerId)
  }
  const move = (event: PointerEvent) => {
    const { x, y } = place(event)
    if (began.current !== undefined) return paint(began.current, x)
    setTip(x < left ? undefined : under(data, Math.floor(y / high), time(x), (span / room) * 6, x, y))
  }
  const up = (event: PointerEvent) => {
    const start = began.current
    const { x } = place(event)
    began.current = undefined
    paint(0, 0)
    if (start === undefined) return
    if (Math.abs(x - start) < 5) {
      if (tip) onOpen(tip.seq)
    } else onPick({ from: Math.floor(time(Math.min(start, x))), to: Math.ceil(time(Math.max(start, x))) })
  }
  const key = (event: KeyboardEvent) => {
    const next = moved(event.key, from, to, long)
    if (!next) return
    event.preventDefault()
    onPick(event.key === '0' || event.key === 'Escape' ? undefined : next)
  }
  return (
    <section className="lanes" aria-label="Lanes">
      <div className="lanes-head row between small">
        <Key data={data} />
        <span className="row">
          <span className="muted num">{part ? `${duration((to - from) / 1e6)} of ${duration(long / 1e6)}` : duration(long / 1e6)}</span>
          {zoomed ? <button className="button small" onClick={() => onPick(undefined)}>All of it</button>
            : part && <button className="button small quiet" title="with the time before and after the agents’ work"
              onClick={() => onPick({ from: 0, to: long })}>All time</button>}
        </span>
      </div>
      <div className="lanes-box">
        <div ref={box} className="lanes-drawn" tabIndex={0} role="group" style={{ height: data.lanes.length * high + foot }} onKeyDown={key}
          aria-label="Who did what when. Drag to pick a stretch; + and - zoom, arrow keys move, 0 shows all."
          onPointerDown={down} onPointerMove={move} onPointerUp={up} onPointerLeave={() => setTip(undefined)}>
          {wide > 0 && <Drawn data={data} wide={wide} left={left} />}
          <div ref={brush} className="lanes-brush" style={{ width: 0 }} />
          {tip && <div className="chart-tip lanes-tip" aria-hidden="true"
            style={{ left: Math.min(tip.x + 12, wide - 200), top: tip.y > 60 ? tip.y - 52 : tip.y + 14 }}>
            <b>{visible(tip.actor)}</b><span>{tip.said}</span></div>}
        </div>
      </div>
      <div className="hidden-label"><table><caption>Who did what in {duration(span / 1e6)}</caption>
        <thead><tr><th scope="col">actor</th>{kinds.map((k) => <th key={k} scope="col">{k}</th>)}<th scope="col">marks</th></tr></thead>
        <tbody>{data.lanes.map((l) => <tr key={l.actor}><th scope="row">{visible(l.actor)}</th>
          {kinds.map((k) => <td key={k}>{duration(l.bars.filter((b) => b.kind === k).reduce((n, b) => n + b.to_us - b.from_us, 0) / 1e6)}</td>)}
          <td>{l.marks.map((m) => `${m.count} ${m.kind}`).slice(0, 40).join(', ') || 'none'}</td></tr>)}</tbody></table></div>
    </section>
  )
}

type Tip = { x: number; y: number; actor: string; said: string; seq: number }

// What is under the pointer: a mark before a bar.
function under(data: Data, row: number, at: number, near: number, x: number, y: number): Tip | undefined {
  const lane = data.lanes[row]
  if (!lane) return undefined
  const mark = lane.marks.filter((m) => Math.abs(m.at_us - at) <= near).sort((a, b) => Math.abs(a.at_us - at) - Math.abs(b.at_us - at))[0]
  const tip = (said: string, seq: number) => ({ x, y, actor: lane.actor, said, seq })
  if (mark) return tip(`${named[mark.kind] ?? mark.kind}${mark.count > 1 ? `, ${mark.count} times` : ''}, event ${mark.seq}`, mark.seq)
  const bar = lane.bars.findLast((b) => b.from_us - near <= at && at <= b.to_us + near)
  if (bar) {
    const long = duration((bar.to_us - bar.from_us) / 1e6)
    return tip(`${bar.kind} ${long}${bar.count > 1 ? `, ${several(bar.count, 'call')}` : ''}, from event ${bar.seq}`, bar.seq)
  }
  const [first, last] = [lane.bars[0], lane.bars.at(-1)]
  return first && last && at > first.from_us && at < last.to_us ? tip('waiting', first.seq) : undefined
}

/** moved is the stretch that a key leads to, undefined for a key that leads nowhere. */
export function moved(key: string, from: number, to: number, long: number): Window | undefined {
  const span = to - from
  const by = { '+': [0.25, -0.25], '=': [0.25, -0.25], '-': [-0.5, 0.5], ArrowRight: [0.2, 0.2], ArrowLeft: [-0.2, -0.2] }[key]
  if (key === '0' || key === 'Escape') return { from: 0, to: long }
  if (!by) return undefined
  // A move ends at an end, and keeps how much is seen.
  const step = Math.round((by[0] ?? 0) * span)
  if (by[0] === by[1]) {
    const kept = Math.max(-from, Math.min(long - to, step))
    return { from: from + kept, to: to + kept }
  }
  return { from: Math.max(0, from + step), to: Math.min(long, Math.max(from + step + 1, to + Math.round((by[1] ?? 0) * span))) }
}

const Drawn = memo(function Drawn({ data, wide, left }: { data: Data; wide: number; left: number }) {
  const { from_us: from, to_us: to, lanes } = data
  const span = Math.max(1, to - from)
  const room = wide - left - 12
  const x = useMemo(() => (at: number) => left + ((at - from) / span) * room, [left, from, span, room])
  const high = highOf(data)
  const tall = lanes.length * high
  return (
    <svg width={wide} height={tall + foot} role="img" aria-label={`${several(lanes.length, 'lane')} over ${duration(span / 1e6)}`}>
      <defs><pattern id="lane-hatch" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
        <rect className="lane-back" width="5" height="5" /><line className="lane-hatch" x1="0" y1="0" x2="0" y2="5" /></pattern></defs>
      {timeTicks(span / 1e6, Math.max(2, Math.floor(room / 110))).map((t) => <g key={t}>
        <line className="grid" x1={x(from + t * 1e6)} x2={x(from + t * 1e6)} y1={0} y2={tall} />
        <text x={x(from + t * 1e6)} y={tall + 14} textAnchor={t === 0 ? 'start' : 'middle'}>{duration(from / 1e6 + t)}</text></g>)}
      {lanes.map((l, i) => <One key={l.actor} lane={l} y={i * high} high={high} x={x} left={left} wide={wide} />)}
    </svg>
  )
})

function One({ lane, y, high, x, left, wide }: { lane: Lane; y: number; high: number; x: (at: number) => number; left: number; wide: number }) {
  const most = Math.floor((left - 8) / 6.600)
  const bars = (kind: string, top: number, tall: number) => lane.bars.filter((b) => b.kind === kind)
    .map((b) => `M${x(b.from_us).toFixed(1)} ${y + top}h${Math.max(1, x(b.to_us) - x(b.from_us)).toFixed(1)}v${tall}H${x(b.from_us).toFixed(1)}z`).join('')
  const [first, last] = [lane.bars[0], lane.bars.at(-1)]
  const shown = [...new Set(lane.marks.map((m) => m.kind))]
  return (
    <g>
      <line className="lane-line" x1={0} x2={wide} y1={y + high} y2={y + high} />
      <text className="lane-name" x={left - 8} y={y + high / 2 + 4} textAnchor="end">
        {flat(lane.actor.length > most ? `${lane.actor.slice(0, most - 1)}…` : lane.actor)}</text>
      {first && last && <line className="lane-wait" x1={x(first.from_us)} x2={x(last.to_us)} y1={y + high / 2} y2={y + high / 2} />}
      <path className="lane-bar thinking" d={bars('thinking', 3, high - 6)} />
      <path className="lane-bar reviewing" d={bars('reviewing', 3, high - 6)} />
      <path className="lane-bar tools" d={bars('tools', high / 2, high / 2 - 3)} />
      {shown.map((kind) => <g key={kind} className={`lane-mark ${kind}`}>{lane.marks.filter((m) => m.kind === kind).map((m) => (
        <path key={m.seq} d={shapes[kind]} transform={`translate(${x(m.at_us).toFixed(1)} ${y + high / 2})`} />))}</g>)}
    </g>
  )
}

function Key({ data }: { data: Data }) {
  const seen = [...new Set(data.lanes.flatMap((l) => l.marks.map((m) => m.kind)))]
  return (
    <div className="lanes-key muted" aria-hidden="true">
      <span><svg width="18" height="12"><rect className="lane-bar thinking" y="0" width="18" height="12" /></svg>thinking</span>
      <span><svg width="18" height="12"><rect className="lane-bar tools" y="5" width="18" height="7" /></svg>tools</span>
      {data.lanes.some((l) => l.bars.some((b) => b.kind === 'reviewing'))
        && <span><svg width="18" height="12"><rect className="lane-bar reviewing" width="18" height="12" /></svg>reviewing</span>}
      <span><svg width="18" height="12"><line className="lane-wait" x1="0" x2="18" y1="6" y2="6" /></svg>waiting</span>
      {seen.map((kind) => <span key={kind}>
        <svg width="14" height="14" className={`lane-mark ${kind}`}><path d={shapes[kind]} transform="translate(7 7)" /></svg>{kind}</span>)}
    </div>
  )
}
