import { useId, useRef, useState, type KeyboardEvent, type PointerEvent, type ReactNode } from 'react'
import { flat, visible } from '../text/plain'
import './chart.css'
import './plot.css'
import { digits, figure, linear, nearest } from './scale'
import { useWidth } from './width'

/** A Shape says how sure a point is: none of them needs a colour. */
export type Shape = 'full' | 'hollow' | 'cross' | 'square'

/** A Point is one value. Values are decimals: they are shown as they are written, and made numbers only to be drawn. */
export type Point = {
  name: string
  value: string
  shape: Shape
  /** said is what the shape means, and what else there is to tell. */
  said: string
  href?: string
  /** best marks the one that counts. */
  best?: boolean
}

/** A Level is a value that others are held against, with how far they may be from it and still be the same. */
export type Level = { name: string; value: string; tolerance?: string }

type Props = {
  label: string
  unit?: string
  /** better is which way is good, if one is. */
  better?: 'higher' | 'lower'
  points: Point[]
  level?: Level
  high?: number
  /** means is what the shapes say here, where that is something else. */
  means?: Partial<Record<Shape, string>>
}

const left = 58
const right = 14
const top = 18
const bottom = 40

const words: Record<Shape, string> = { full: 'verified', hollow: 'not checked', cross: 'differs', square: 'failed' }

/**
 * Plot draws one value for each run, in their order, against a level and its tolerance. It is read by pointer, by arrow keys, and
 * as a table.
 */
export function Plot({ label, unit, better, points, level, high = 220, means }: Props) {
  const box = useRef<HTMLDivElement>(null)
  const wide = useWidth(box)
  const [at, setAt] = useState(-1)
  const [table, setTable] = useState(false)
  const id = useId()
  if (points.length === 0) return <p className="muted small">Nothing to draw yet.</p>
  const base = level && { value: Number(level.value), room: Number(level.tolerance ?? 0) || 0 }
  const values = points.map((p) => Number(p.value))
  const y = linear([...values, ...(base ? [base.value - base.room, base.value + base.room] : [])], high - bottom, top)
  const x = (i: number) => left + ((i + 0.5) / points.length) * (wide - left - right)
  const places = points.map((_, i) => x(i))
  const near = (event: PointerEvent) => {
    const frame = box.current?.getBoundingClientRect()
    if (frame) setAt(nearest(places, event.clientX - frame.left))
  }
  const key = (event: KeyboardEvent) => {
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: points.length - 1 }[event.key]
    if (to === undefined) return
    event.preventDefault()
    const next = Math.max(0, Math.min(points.length - 1, to))
    setAt(next)
    box.current?.querySelector<SVGElement>(`[data-point="${next}"]`)?.focus()
  }
  const focused = at < 0 ? points.length - 1 : at
  return (
    <figure className="plot" aria-labelledby={`${id}-title`}>
      <figcaption className="row between"><span id={`${id}-title`}><b>{visible(label)}</b>{unit && <span className="muted"> in {visible(unit)}</span>}
        {better && <span className="muted">, {better} is better {better === 'higher' ? '↑' : '↓'}</span>}</span>
        <button className="button small quiet" aria-pressed={table} onClick={() => setTable(!table)}>Table</button></figcaption>
      <div className="plot-box" ref={box} onPointerMove={near} onPointerLeave={() => setAt(-1)} onKeyDown={key} onBlur={() => setAt(-1)}>
        {wide > 0 && (
          <svg width={wide} height={high} role="group" aria-label={`${flat(label)} of ${points.length} runs`}>
            <defs><pattern id={`${id}-hatch`} width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
              <line className="hatch" x1="0" y1="0" x2="0" y2="6" /></pattern></defs>
            {y.ticks.map((t) => <g key={t}><line className="grid" x1={left} x2={wide - right} y1={y.at(t)} y2={y.at(t)} />
              <text x={left - 8} y={y.at(t) + 4} textAnchor="end">{figure(t, digits(y.ticks))}</text></g>)}
            {base && level && <Against base={base} name={level.name} y={y.at} wide={wide} hatch={`${id}-hatch`}
              taken={places.map((px, i) => [px, y.at(values[i] ?? 0)])} />}
            {at >= 0 && <line className="rule" x1={places[at]} x2={places[at]} y1={top - 6} y2={high - bottom} />}
            {points.map((p, i) => (
              <Spot key={i} point={p} n={i} x={places[i] ?? 0} y={y.at(values[i] ?? 0)} unit={unit} active={i === at} tab={i === focused}
                onFocus={() => setAt(i)} />
            ))}
            <Names points={points} x={places} y={values.map(y.at)} wide={wide} high={high} />
          </svg>
        )}
        {at >= 0 && points[at] && <Tip point={points[at]} unit={unit} x={places[at] ?? 0} y={y.at(values[at] ?? 0)} wide={wide} />}
      </div>
      <Key points={points} level={level} means={means} />
      <div className={table ? 'table-box' : 'hidden-label'}><Table label={label} unit={unit} points={points} level={level} /></div>
    </figure>
  )
}

// The level is a broken line, what is within its tolerance is hatched.
type Held = { base: { value: number; room: number }; name: string; y: (v: number) => number; wide: number; hatch: string; taken: [number, number][] }

function Against({ base, name, y, wide, hatch, taken }: Held) {
  const over = y(base.value + base.room)
  const under = y(base.value - base.room)
  // Its name stands where no point does: above or below the line, at its end or its begin.
  const long = name.length * 6.6
  const free = ([x, baseline]: [number, number]) => !taken.some(([px, py]) => px > x - 14 && px < x + long + 14 && py > baseline - 26 && py < baseline + 14)
  const spots: [number, number][] = [over - 5, under + 14].flatMap((at) => [wide - right - long, left + 4].map((x): [number, number] => [x, at]))
  const [x, at] = spots.find(free) ?? [wide - right - long, over - 5]
  // How long the name is was reckoned. At the end of the line it ends with it, however long it is.
  const ends = x > left + 4
  return (
    <>
      {base.room > 0 && <rect className="band" x={left} width={Math.max(0, wide - left - right)} y={over} height={Math.max(1, under - over)}
        fill={`url(#${hatch})`} />}
      <line className="level" x1={left} x2={wide - right} y1={y(base.value)} y2={y(base.value)} />
      <text className="level-name" x={ends ? wide - right : x} y={at} textAnchor={ends ? 'end' : 'start'}>{flat(name)}</text>
    </>
  )
}

type SpotProps = { point: Point; n: number; x: number; y: number; unit?: string; active: boolean; tab: boolean; onFocus: () => void }

function Spot({ point: p, n, x, y, unit, active, tab, onFocus }: SpotProps) {
  const said = flat(`${p.name}: ${p.value}${unit ? ` ${unit}` : ''}, ${p.said}${p.best ? ', the best' : ''}`)
  const drawn = (
    <>
      <circle className="reach" cx={x} cy={y} r={14} />
      {p.best && <circle className="ring" cx={x} cy={y} r={10} />}
      {shapeOf(p.shape, x, y)}
    </>
  )
  const common = { 'data-point': n, 'aria-label': said, tabIndex: tab ? 0 : -1, onFocus, className: `spot ${p.shape} ${active ? 'active' : ''}` }
  return p.href ? <a {...common} href={p.href}>{drawn}</a> : <g {...common} role="img">{drawn}</g>
}

function shapeOf(shape: Shape, x: number, y: number): ReactNode {
  switch (shape) {
    case 'cross': return <path className="ink" d={`M${x - 5} ${y - 5}l10 10m0 -10l-10 10`} />
    case 'square': return <path className="ink empty" d={`M${x - 5} ${y - 5}h10v10h-10z`} />
    default: return <circle className={shape === 'full' ? 'ink fill' : 'ink empty'} cx={x} cy={y} r={5} />
  }
}

// Names stand below, in two rows, as far as there is room for them; so do values beside their points.
function Names({ points, x, y, wide, high }: { points: Point[]; x: number[]; y: number[]; wide: number; high: number }) {
  const room = (wide - left - right) / points.length
  const rows = room < 80 ? 2 : 1
  const every = Math.ceil(64 / Math.max(1, room * rows))
  const most = Math.max(4, Math.floor((room * every * rows) / 6.4))
  return (
    <>
      {points.map((p, i) => i % every === 0 && <text key={i} x={x[i]} y={high - (rows === 1 || (i / every) % 2 === 0 ? 22 : 8)}
        textAnchor="middle">{flat(cut(p.name, most))}</text>)}
      {room > 44 && points.map((p, i) => <text key={`v${i}`} className="value num" x={x[i]} y={(y[i] ?? 0) - (p.best ? 15 : 11)} textAnchor="middle"
        aria-hidden="true">{flat(cut(p.value, Math.floor(room / 6.2)))}</text>)}
    </>
  )
}

const cut = (text: string, most: number) => (text.length > most ? `${text.slice(0, most - 1)}…` : text)

function Tip({ point: p, unit, x, y, wide }: { point: Point; unit?: string; x: number; y: number; wide: number }) {
  const room = 220
  return (
    <div className="plot-tip" aria-hidden="true" style={{ left: Math.max(0, Math.min(wide - room, x - room / 2)), top: y > 110 ? y - 14 : y + 14,
      width: room, transform: y > 110 ? 'translateY(-100%)' : undefined }}>
      <b>{visible(p.name)}</b>
      <span className="num">{visible(p.value)}{unit && <> {visible(unit)}</>}{p.best && ', the best'}</span>
      <span className="muted">{visible(p.said)}</span>
    </div>
  )
}

function Key({ points, level, means }: Pick<Props, 'points' | 'level' | 'means'>) {
  const used = (Object.keys(words) as Shape[]).filter((s) => points.some((p) => p.shape === s))
  return (
    <p className="plot-key small muted" aria-hidden="true">
      {used.map((s) => <span key={s}><svg width="14" height="14" className={`spot ${s}`}>{shapeOf(s, 7, 7)}</svg>{means?.[s] ?? words[s]}</span>)}
      {points.some((p) => p.best) && <span><svg width="18" height="18" className="spot"><circle className="ring" cx="9" cy="9" r="7" /></svg>best</span>}
      {level && <span><svg width="22" height="14"><line className="level" x1="0" x2="22" y1="7" y2="7" /></svg>{visible(level.name)}
        {Number(level.tolerance ?? 0) > 0 && <> ± {level.tolerance} (hatched)</>}</span>}
    </p>
  )
}

function Table({ label, unit, points, level }: { label: string; unit?: string; points: Point[]; level?: Level }) {
  return (
    <table className="plot-table num" tabIndex={-1}>
      <caption className="hidden-label">{visible(label)} by run</caption>
      <thead><tr><th scope="col">Run</th><th scope="col">{visible(label)}{unit && <> ({visible(unit)})</>}</th>
        <th scope="col">What is known of it</th></tr></thead>
      <tbody>
        {level && <tr><th scope="row">{visible(level.name)}</th><td>{visible(level.value)}</td>
          <td>{Number(level.tolerance ?? 0) > 0 ? `tolerance ${level.tolerance}` : 'what others are held against'}</td></tr>}
        {points.map((p, i) => <tr key={i}><th scope="row">{p.href ? <a href={p.href} tabIndex={-1}>{visible(p.name)}</a> : visible(p.name)}</th>
          <td>{visible(p.value)}</td><td>{visible(p.said)}{p.best && ', the best'}</td></tr>)}
      </tbody>
    </table>
  )
}
