import { useId, useRef, useState, type KeyboardEvent, type PointerEvent, type ReactNode, type RefObject } from 'react'
import { flat, visible } from '../text/plain'
import './chart.css'
import { linear, nearest } from './scale'
import { csv, rowsOf, timeTicks, type Series } from './series'
import { duration } from './show'
import { useWidth } from './width'

const left = 56
const right = 12
const top = 12
const bottom = 24
const tableRows = 40

type FrameProps = { title: string; note?: ReactNode; svg: RefObject<SVGSVGElement | null>; columns: string[];
  /** rows are for people, exact for programs */ rows: () => string[][]; exact: () => (string | number)[][]; children: ReactNode }

/** Frame is what all charts share: a title, a table for who does not see them, and files of both. */
function Frame({ title, note, svg, columns, rows, exact, children }: FrameProps) {
  const [table, setTable] = useState(false)
  const id = useId()
  return (
    <figure className="card chart-card" aria-labelledby={id}>
      <figcaption className="row between">
        <h3 id={id}>{title}</h3>
        <div className="chart-tools">
          <button className="button small quiet" aria-pressed={table} onClick={() => setTable(!table)}>Table</button>
          <button className="button small quiet" onClick={() => save(`${title}.csv`, 'text/csv', csv([columns, ...exact()]))}
            aria-label={`${title} as CSV`}>CSV</button>
          <button className="button small quiet" onClick={() => svg.current && save(`${title}.svg`, 'image/svg+xml', drawing(svg.current))}
            aria-label={`${title} as SVG`}>SVG</button>
        </div>
      </figcaption>
      {note && <p className="chart-note">{note}</p>}
      {children}
      <div className={table ? 'table-box' : 'hidden-label'} tabIndex={table ? 0 : undefined} role={table ? 'region' : undefined}
        aria-label={table ? title : undefined}>
        <table className="chart-table num">
          <caption className="hidden-label">{title}</caption>
          <thead><tr>{columns.map((c) => <th key={c} scope="col">{visible(c)}</th>)}</tr></thead>
          <tbody>{rows().map((r, i) => <tr key={i}>{r.map((c, k) => (
            k === 0 ? <th key={k} scope="row">{visible(c)}</th> : <td key={k}>{c}</td>))}</tr>)}</tbody>
        </table>
      </div>
    </figure>
  )
}

function save(name: string, type: string, text: string) {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([text], { type }))
  link.download = name.replaceAll(/[^\w. -]/g, '_')
  link.click()
  window.setTimeout(() => URL.revokeObjectURL(link.href), 10_000)
}

// A file has no style sheet: what the page's says is written to each element.
function drawing(svg: SVGSVGElement): string {
  const copy = svg.cloneNode(true) as SVGSVGElement
  const mine = [svg, ...svg.querySelectorAll('*')]
  const theirs = [copy, ...copy.querySelectorAll('*')]
  mine.forEach((element, i) => {
    const seen = getComputedStyle(element)
    for (const name of ['fill', 'stroke', 'stroke-width', 'stroke-dasharray', 'font', 'opacity', 'text-anchor']) {
      theirs[i]?.setAttribute(name === 'font' ? 'style' : name, name === 'font' ? `font: ${seen.font}` : seen.getPropertyValue(name))
    }
  })
  copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg')
  return new XMLSerializer().serializeToString(copy)
}

type LineProps = {
  title: string
  series: Series[]
  show: (value: number) => string
  /** counted says that the horizontal axis counts, and of what, instead of telling time */
  counted?: string
  /** level is a value that others come up to */
  level?: { name: string; value: number }
  /** most is where the vertical axis ends at least */
  most?: number
  note?: ReactNode
  high?: number
}

/** Line draws curves over time. Each has a stroke of its own, so that they are told apart without colour. */
export function Line({ title, series: all, show, counted, level, most = 0, note, high = 190 }: LineProps) {
  const box = useRef<HTMLDivElement>(null)
  const svg = useRef<SVGSVGElement>(null)
  const wide = useWidth(box)
  const [spot, setSpot] = useState(-1)
  const series = all.filter((s) => s.points.length > 0)
  const xs = series.flatMap((s) => s.points.map((p) => p[0]))
  const x0 = xs.reduce((a, b) => Math.min(a, b), Infinity)
  const x1 = xs.reduce((a, b) => Math.max(a, b), -Infinity)
  if (xs.length === 0) return <div className="card chart-card"><h3>{title}</h3><p className="muted small">Nothing to draw yet.</p></div>
  const span = Math.max(x1 - x0, counted ? 1 : 10)
  const tops = series.flatMap((s) => s.points.map((p) => p[1]))
  // A limit far above all there is would press the curve flat: it is said, not drawn.
  const peak = tops.reduce((a, b) => Math.max(a, b), most)
  const drawn = level && level.value <= peak * 4 ? level : undefined
  const y = linear([0, peak || 1, ...(drawn ? [drawn.value] : [])], high - bottom, top, 3)
  const x = (v: number) => left + ((v - x0) / span) * (wide - left - right)
  const ticks = counted ? linear([0, span], 0, 1, 4).ticks.filter((t) => t <= span && Number.isInteger(t)) : timeTicks(span / 1000, 5).map((t) => t * 1000)
  const told = (v: number) => (counted ? `${counted} ${v - x0 + 1}` : duration((v - x0) / 1000))
  const rows = rowsOf(series, 400)
  const places = rows.map((r) => x(r.x))
  const here = rows[spot]
  const near = (event: PointerEvent) => {
    const frame = box.current?.getBoundingClientRect()
    if (frame) setSpot(nearest(places, event.clientX - frame.left))
  }
  const key = (event: KeyboardEvent) => {
    const to = { ArrowRight: spot + 1, ArrowLeft: (spot < 0 ? rows.length : spot) - 1, Home: 0, End: rows.length - 1, Escape: -1 }[event.key]
    if (to === undefined) return
    event.preventDefault()
    setSpot(Math.max(-1, Math.min(rows.length - 1, to)))
  }
  const said = here ? `${told(here.x)}: ${series.map((s, i) => `${s.name} ${here.values[i] === undefined ? '–' : show(here.values[i])}`).join(', ')}` : ''
  const column = counted ?? 'after'
  return (
    <Frame title={title} note={note} svg={svg} columns={[column, ...series.map((s) => s.name)]}
      rows={() => rowsOf(series, tableRows).map((r) => [told(r.x), ...r.values.map((v) => (v === undefined ? '–' : show(v)))])}
      exact={() => rowsOf(series, Infinity).map((r) => [counted ? r.x - x0 + 1 : (r.x - x0) / 1000, ...r.values.map((v) => v ?? '')])}>
      <div className="chart-box" ref={box} tabIndex={0} role="group" aria-label={`${title}. Arrow keys read its values.`} style={{ minHeight: high }}
        onPointerMove={near} onPointerLeave={() => setSpot(-1)} onKeyDown={key} onBlur={() => setSpot(-1)}>
        {wide > 0 && (
          <svg ref={svg} width={wide} height={high} role="img"
            aria-label={flat(`${title}: ${series.map((s) => `${s.name} ${show(s.points.at(-1)?.[1] ?? 0)}`).join(', ')} after ${told(x1)}`)}>
            {y.ticks.map((t) => <g key={t}><line className={t === 0 ? 'axis' : 'grid'} x1={left} x2={wide - right} y1={y.at(t)} y2={y.at(t)} />
              <text x={left - 6} y={y.at(t) + 4} textAnchor="end">{show(t)}</text></g>)}
            {ticks.map((t, i) => <text key={t} x={x(x0 + t)} y={high - 6} textAnchor={i === 0 ? 'start' : x(x0 + t) > wide - 40 ? 'end' : 'middle'}>
              {counted ? t + 1 : duration(t / 1000)}</text>)}
            {drawn && <g><line className="level" x1={left} x2={wide - right} y1={y.at(drawn.value)} y2={y.at(drawn.value)} />
              <text className="level-name" x={left + 4} y={y.at(drawn.value) + (y.at(drawn.value) < 24 ? 13 : -4)}>{drawn.name} {show(drawn.value)}</text></g>}
            {series.map((s, i) => <path key={i} className={`curve c${i} ${s.ahead ? 'ahead' : ''}`} d={path(s, x, y.at)} />)}
            {here && <line className="rule" x1={x(here.x)} x2={x(here.x)} y1={top} y2={high - bottom} />}
            {here && series.map((s, i) => here.values[i] !== undefined
              && <circle key={s.name} className={`dot c${i}`} cx={x(here.x)} cy={y.at(here.values[i])} r={3.5} />)}
          </svg>
        )}
        {here && <div className="chart-tip" style={{ left: Math.max(0, Math.min(wide - 190, x(here.x) + 10)) }} aria-hidden="true">
          <b className="num">{told(here.x)}</b>
          {series.map((s, i) => <span key={s.name}><Stroke n={i} ahead={s.ahead} /> {visible(s.name)} <b className="num">
            {here.values[i] === undefined ? '–' : show(here.values[i])}</b></span>)}</div>}
        <span className="hidden-label" aria-live="polite">{said}</span>
      </div>
      {series.length > 1 && <div className="legend" aria-hidden="true">{series.map((s, i) => (
        <span key={s.name}><Stroke n={i} ahead={s.ahead} /> {visible(s.name)}</span>))}</div>}
    </Frame>
  )
}

const Stroke = ({ n, ahead }: { n: number; ahead?: boolean }) => (
  <svg className="chart-stroke" width="22" height="8" aria-hidden="true">
    <line className={`curve c${n} ${ahead ? 'ahead' : ''}`} x1="0" x2="22" y1="4" y2="4" />
  </svg>
)

function path(s: Series, x: (v: number) => number, y: (v: number) => number): string {
  let d = ''
  for (const [i, [px, py]] of s.points.entries()) {
    const to = `${x(px).toFixed(1)} `
    d += i === 0 ? `M${to}${y(py).toFixed(1)}` : s.stepped ? `H${to}V${y(py).toFixed(1)}` : `L${to}${y(py).toFixed(1)}`
  }
  return d
}

/** Bars sets figures of one or two kinds beside each other, for several things. Each kind has a fill of its own; one that stands alone, a scale too. */
export function Bars({ title, rows, kinds, note }: { title: string; rows: { name: string; values: number[]; href?: string }[];
  kinds: { name: string; show: (v: number) => string; alone?: boolean }[]; note?: ReactNode }) {
  const box = useRef<HTMLDivElement>(null)
  const svg = useRef<SVGSVGElement>(null)
  const wide = useWidth(box)
  const names = Math.min(132, wide * 0.32)
  const room = Math.max(20, wide - names - 66)
  const bar = rows.length > 10 ? 7 : 10
  const each = kinds.length * (bar + 3) + 7
  const all = rows.flatMap((r) => r.values)
  const most = kinds.map((k, i) => Math.max(...(k.alone ? rows.map((r) => r.values[i] ?? 0) : all), Number.EPSILON))
  const length = (v: number, i: number) => Math.max(v > 0 ? 1.5 : 0, (v / (most[i] ?? 1)) * room)
  return (
    <Frame title={title} note={note} svg={svg} columns={['name', ...kinds.map((k) => k.name)]}
      rows={() => rows.map((r) => [r.name, ...r.values.map((v, i) => kinds[i]?.show(v) ?? '')])} exact={() => rows.map((r) => [r.name, ...r.values])}>
      <div className="chart-box bars" ref={box}>
        {wide > 0 && (
          <svg ref={svg} width={wide} height={rows.length * each + 4} role="img"
            aria-label={flat(`${title}: ${rows.map((r) => `${r.name} ${r.values.map((v, i) => kinds[i]?.show(v)).join(' and ')}`).join('; ')}`)}>
            <defs><pattern id="bar-hatch" width="4" height="4" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
              <rect width="4" height="4" className="hatch-back" /><line className="hatch" x1="0" y1="0" x2="0" y2="4" /></pattern></defs>
            {rows.map((r, n) => (
              <g key={r.name} transform={`translate(0 ${n * each + 2})`}>
                <title>{flat(`${r.name}: ${r.values.map((v, i) => `${kinds[i]?.name} ${kinds[i]?.show(v)}`).join(', ')}`)}</title>
                <text x={names - 8} y={each / 2 + 1} textAnchor="end">{flat(r.name.length > 18 ? `${r.name.slice(0, 17)}…` : r.name)}</text>
                {r.values.map((v, i) => <g key={i}>
                  <rect className={`bar b${i}`} x={names} y={i * (bar + 3)} width={length(v, i)} height={bar} rx={1.5} />
                  <text className="figure" x={names + length(v, i) + 5} y={i * (bar + 3) + bar - 0.5}>{kinds[i]?.show(v)}</text></g>)}
              </g>
            ))}
          </svg>
        )}
      </div>
      {kinds.length > 1 && <div className="legend" aria-hidden="true">{kinds.map((k, i) => <span key={k.name}>
        <svg width="12" height="12" className="chart-stroke"><rect className={`bar b${i}`} width="12" height="12" rx="2" /></svg>
        {' '}{visible(k.name)}</span>)}</div>}
    </Frame>
  )
}
