import { questPath } from '../../api/client'
import type { Conclusion, Cost, CostPoint, Detail } from '../../api/types'
import { useQuestResource } from '../../live/context'
import { Bars, Line } from '../../ui/chart'
import { pace, type Point, type Series } from '../../ui/series'
import { count, duration, money, short } from '../../ui/show'

const dollars = (v: number) => money(String(v))
const mostAgents = 12

/** Plots are the figures that people look at first: what it costs and when that ends, who agrees, what the agents took. */
export default function Plots({ quest }: { quest: Detail }) {
  const cost = useQuestResource<Cost>(questPath(quest.name, '/cost'))
  const points = cost.data?.points ?? []
  const history = quest.conclusion?.history ?? []
  if (points.length < 2 && history.length < 2) return null
  return (
    <section className="plots" aria-label="Plots">
      {points.length > 1 && <Spent quest={quest} points={points} />}
      {history.length > 1 && <Agreement quest={quest} />}
      {history.length > 1 && quest.papers && <Papers quest={quest} />}
      {points.length > 1 && quest.team.length > 1 && <PerAgent quest={quest} />}
      {points.some((p) => p.cached > 0) && <Cached points={points} />}
    </section>
  )
}

const when = (p: { time: string }) => Date.parse(p.time)

// What was spent, the limit, and where the pace of the last two minutes leads: money, or tokens where nothing has a price.
function Spent({ quest, points }: { quest: Detail; points: CostPoint[] }) {
  const priced = Number(points.at(-1)?.total_usd ?? 0) > 0
  const show = priced ? dollars : short
  const spent: Point[] = points.map((p) => [when(p), priced ? Number(p.total_usd) : p.total_tokens])
  const limit = priced ? (quest.limits.cost_usd === undefined ? undefined : Number(quest.limits.cost_usd)) : quest.limits.tokens
  const p = pace(spent, limit)
  const series: Series[] = [{ name: priced ? 'cost' : 'tokens', points: spent }]
  const last = spent.at(-1)
  if (quest.running && last && limit !== undefined && p?.left !== undefined && p.left < 3600) {
    series.push({ name: 'at this pace', points: [last, [last[0] + p.left * 1000, limit]], ahead: true })
  }
  const rate = p && `${show(p.perMinute)} ${priced ? '' : 'tokens '}a minute`
  const end = limit === undefined ? 'no limit' : p?.left !== undefined && quest.running ? `limit in ${duration(p.left)}` : `limit ${show(limit)}`
  return <Line title={priced ? 'Cost' : 'Tokens'} series={series} show={show} level={limit === undefined ? undefined : { name: 'limit', value: limit }}
    note={[rate && (quest.running ? rate : `${rate} at the end`), end].filter(Boolean).join(', ')} />
}

type Turn = Conclusion['history'][number]

const steps = (history: Turn[]) => (name: string, value: (t: Turn) => number): Series =>
  ({ name, stepped: true, points: history.map((t) => [when(t), value(t)]) })

function Agreement({ quest }: { quest: Detail }) {
  const { history = [], counts } = quest.conclusion ?? {}
  const what = counts ?? 'results'
  const of = steps(history)
  const series = [of(counts === 'claims' ? 'claims that stand' : `${what} that say so`, (t) => t.same), of(`all ${what} with a value`, (t) => t.of)]
  if (counts === 'papers') series.push(of('votes for it', (t) => t.votes))
  const last = history.at(-1)
  return <Line title="Agreement" series={series} show={count}
    note={last && `${last.same} of ${last.of} ${what}${counts === 'papers' ? `, ${last.votes} of ${quest.agents} votes` : ''}`} />
}

function Papers({ quest }: { quest: Detail }) {
  const history = quest.conclusion?.history ?? []
  const of = steps(history)
  const last = history.at(-1)
  return <Line title="Papers by state" show={count} note={last && `${last.published} published, ${last.submitted} under review, ${last.rejected} rejected`}
    series={[of('published', (t) => t.published), of('under review', (t) => t.submitted), of('rejected', (t) => t.rejected)]} />
}

function PerAgent({ quest }: { quest: Detail }) {
  const priced = quest.team.some((a) => Number(a.cost_usd ?? 0) > 0)
  const busy = [...quest.team].filter((a) => a.turns > 0).sort((a, b) => b.tokens - a.tokens)
  const rows = busy.slice(0, mostAgents).map((a) => ({ name: a.name, values: [priced ? Number(a.cost_usd ?? 0) : a.tokens, a.seconds] }))
  if (rows.length === 0) return null
  return <Bars title={priced ? 'Cost and time by agent' : 'Tokens and time by agent'} rows={rows}
    kinds={[{ name: priced ? 'cost' : 'tokens', show: priced ? dollars : short, alone: true }, { name: 'time of its model', show: duration, alone: true }]}
    note={busy.length > mostAgents ? `the ${mostAgents} that took most, of ${busy.length}` : undefined} />
}

const percent = (v: number) => `${Math.round(v)} %`

// Of what was read so far, how much came from the provider's cache.
function Cached({ points }: { points: CostPoint[] }) {
  let read = 0
  let cached = 0
  const share = points.map((p): Point => {
    read += p.input
    cached += p.cached
    return [when(p), read > 0 ? (100 * cached) / read : 0]
  })
  return <Line title="Read from the cache" series={[{ name: 'share of tokens read so far', points: share }]} show={percent} most={100}
    note={`${percent(share.at(-1)?.[1] ?? 0)} of ${short(read)} tokens`} />
}
