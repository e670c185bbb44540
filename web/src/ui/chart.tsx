import { duration } from './show'

type Point = [number, number]
type Props = { label: string; series: Point[][]; names?: string[];
  show: (value: number) => string; /** the horizontal axis counts instead of telling time */ plain?: boolean }

const wide = 420
const high = 170
const left = 52
const bottom = 22

/** Line draws one or two curves as plain SVG. */
export function Line({ label, series, names, show, plain = false }: Props) {
  const all = series.flat()
  if (all.every((p) => p[1] === 0)) return <p className="muted small">{all.length === 0 ? 'Nothing to draw yet.' : `${show(0)} all the time.`}</p>
  const x0 = Math.min(...all.map((p) => p[0]))
  const x1 = Math.max(...all.map((p) => p[0]), x0 + 1)
  const y1 = Math.max(...all.map((p) => p[1]), Number.EPSILON)
  const x = (v: number) => left + ((v - x0) / (x1 - x0)) * (wide - left - 8)
  const y = (v: number) => high - bottom - (v / y1) * (high - bottom - 12)
  const path = (points: Point[]) => points.map((p, i) => `${i === 0 ? 'M' : 'L'}${x(p[0]).toFixed(1)} ${y(p[1]).toFixed(1)}`).join('')
  const span = plain ? `${x1 - x0 + 1} answers` : duration((x1 - x0) / 1000)
  return (
    <>
      <svg className="chart" viewBox={`0 0 ${wide} ${high}`} role="img" aria-label={`${label}: up to ${show(y1)} in ${span}`}>
        {[0, 0.5, 1].map((f) => <g key={f}><line className={f === 0 ? 'axis' : 'grid'} x1={left} x2={wide - 8} y1={y(y1 * f)} y2={y(y1 * f)} />
          <text x={left - 6} y={y(y1 * f) + 4} textAnchor="end">{show(y1 * f)}</text></g>)}
        {series.map((points, i) => <path key={i} className={i === 0 ? 'one' : 'two'} d={path(points)} />)}
        <text x={left} y={high - 6}>0</text>
        <text x={wide - 8} y={high - 6} textAnchor="end">{span}</text>
      </svg>
      {names && <div className="legend">{names.map((n, i) => <span key={n}><i className={i === 0 ? '' : 'two'} />{n}</span>)}</div>}
    </>
  )
}

/** Pairs sets two figures of a kind beside each other, for several kinds. */
export function Pairs({ label, rows, show }: { label: string; rows: { name: string; a: number; b: number }[]; show: (v: number) => string }) {
  const most = Math.max(...rows.flatMap((r) => [r.a, r.b]), Number.EPSILON)
  const tall = rows.length * 40 + 4
  const width = (v: number) => Math.max(v > 0 ? 1.5 : 0, (v / most) * 215)
  return (
    <svg className="chart" viewBox={`0 0 ${wide} ${tall}`} role="img"
      aria-label={`${label}: ${rows.map((r) => `${r.name} ${show(r.a)} and ${show(r.b)}`).join('; ')}`}>
      {rows.map((r, i) => (
        <g key={r.name} transform={`translate(0 ${i * 40})`}>
          <text x={132} y={21} textAnchor="end">{r.name}</text>
          <rect className="bar-one" x={140} y={5} width={width(r.a)} height={11} rx={2} /><text x={146 + width(r.a)} y={14}>{show(r.a)}</text>
          <rect className="bar-two" x={140} y={20} width={width(r.b)} height={11} rx={2} /><text x={146 + width(r.b)} y={29}>{show(r.b)}</text>
        </g>
      ))}
    </svg>
  )
}
