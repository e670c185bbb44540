import type { CostPoint } from '../../api/types'
import { Line } from '../../ui/chart'
import { money, short } from '../../ui/show'

/** Spending draws an agent's cost and tokens over time. */
export function Spending({ points }: { points: CostPoint[] }) {
  const at = (p: CostPoint) => Date.parse(p.time)
  return (
    <div className="columns">
      <Line title="Cost" series={[{ name: 'cost', points: points.map((p) => [at(p), Number(p.total_usd)]) }]} show={(v) => money(String(v))} />
      <Line title="Tokens" series={[{ name: 'tokens', points: points.map((p) => [at(p), p.total_tokens]) }]} show={short} />
      <Line title="Tokens of each answer" counted="answer" show={short}
        series={[{ name: 'read', points: points.map((p, i) => [i, p.input]) },
          { name: 'of it from the cache', points: points.map((p, i) => [i, p.cached]) }]} />
    </div>
  )
}
