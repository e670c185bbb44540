import type { CostPoint } from '../../api/types'
import { Line } from '../../ui/chart'
import { money, short } from '../../ui/show'

/** Spending draws an agent's cost and tokens over time. */
export function Spending({ points }: { points: CostPoint[] }) {
  const at = (p: CostPoint) => Date.parse(p.time)
  return (
    <div className="columns">
      <figure className="card stack tight"><figcaption><h3>Cost</h3></figcaption>
        <Line label="Cost in dollars over time" series={[points.map((p) => [at(p), Number(p.total_usd)])]} show={(v) => money(String(v))} /></figure>
      <figure className="card stack tight"><figcaption><h3>Tokens</h3></figcaption>
        <Line label="Tokens over time" series={[points.map((p) => [at(p), p.total_tokens])]} show={short} /></figure>
      <figure className="card stack tight"><figcaption><h3>Tokens of each answer</h3></figcaption>
        <Line label="Tokens read by each answer" series={[points.map((p, i) => [i, p.input]), points.map((p, i) => [i, p.cached])]}
        names={['read', 'of it from the cache']} show={short} plain /></figure>
    </div>
  )
}
