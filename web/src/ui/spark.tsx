import type { Spark as Data } from '../api/types'
import { several } from './show'

/** Spark draws activity over a quest's life: a bar for each stretch of time. */
export function Spark({ data }: { data: Data }) {
  const most = Math.max(1, ...data.counts)
  const total = data.counts.reduce((a, b) => a + b, 0)
  const wide = data.counts.length * 4
  return (
    <svg className="spark" viewBox={`0 0 ${wide} 28`} preserveAspectRatio="none" role="img" aria-label={`activity: ${several(total, 'event')}`}>
      {data.counts.map((n, i) => {
        const high = n === 0 ? 1 : Math.max(2, (n / most) * 27)
        return <rect key={i} x={i * 4} y={28 - high} width={3} height={high} opacity={n === 0 ? 0.25 : 0.75} />
      })}
    </svg>
  )
}
