import { questPath } from '../../api/client'
import { useResource } from '../../api/resource'
import type { Cost, Detail } from '../../api/types'
import { questLink } from '../../route'
import { Markdown } from '../../text/markdown'
import { Bars, Line } from '../../ui/chart'
import { Unified } from '../../ui/diff'
import { Badge, count, duration, money, price, short } from '../../ui/show'
import { Steps } from './steps'
import type { Diff, Overlap, Side, TextDiff } from './types'

const percent = (v: number) => `${Math.floor(v * 100)} %`

export function Result({ diff }: { diff: Diff }) {
  return (
    <div className="stack loose">
      <Alike diff={diff} />
      <Sides diff={diff} />
      <Charts diff={diff} />
      <Text title="Spec" diff={diff.spec} />
      <Answers diff={diff} />
      <Steps diff={diff} />
      <Overlaps diff={diff} />
    </div>
  )
}

function Alike({ diff }: { diff: Diff }) {
  const { similarity: s } = diff
  return (
    <section className="card alike" aria-label="How alike they are">
      <div className="big"><span className="figure num">{percent(s.total)}</span><span className="muted small">alike</span></div>
      <dl className="figures-3">
        <div><dt>answer</dt><dd className="num">{percent(s.answer)}</dd></div>
        <div><dt>steps</dt><dd className="num">{percent(s.steps)}</dd></div>
        <div><dt>tools</dt><dd className="num">{percent(s.tools)}</dd></div>
      </dl>
      <p className="small muted">{diff.shared_events > 0
        ? `The first ${diff.shared_events === 1 ? 'event is' : `${count(diff.shared_events)} events are`} the same, hash for hash:`
          + ' one is a fork of the other, or both are of a third.'
        : 'They share no past.'}</p>
    </section>
  )
}

function Sides({ diff }: { diff: Diff }) {
  const rows: [string, (s: Side) => React.ReactNode][] = [
    ['status', (s) => s.status], ['rules', (s) => s.rules], ['model', (s) => s.models.join(', ') || '–'], ['seed', (s) => s.seed],
      ['events', (s) => count(s.events)],
    ['turns', (s) => count(s.turns)], ['tool calls', (s) => count(s.tool_calls)], ['tokens', (s) => short(s.input_tokens + s.output_tokens)],
      ['cost', (s) => price(s.unpriced_calls ? null : s.cost_usd, s.cost_usd)],
    ['head', (s) => <span className="mono">{s.hash.slice(0, 12)}…</span>],
  ]
  return (
    <div className="card flush scroll" tabIndex={0} role="region" aria-label="Both at a glance">
      <table className="sides">
        <thead><tr><td /><th scope="col"><i className="dot one" /><a href={questLink(diff.a.name)}>{diff.a.name}</a></th>
          <th scope="col"><i className="dot two" /><a href={questLink(diff.b.name)}>{diff.b.name}</a></th></tr></thead>
        <tbody>{rows.map(([name, show]) => <tr key={name}><th scope="row">{name}</th><td className="num">{show(diff.a)}</td>
          <td className="num">{show(diff.b)}</td></tr>)}</tbody>
      </table>
    </div>
  )
}

function Charts({ diff }: { diff: Diff }) {
  const a = useResource<Cost>(questPath(diff.a.name, '/cost'))
  const b = useResource<Cost>(questPath(diff.b.name, '/cost'))
  const series = (cost: Cost | undefined, value: (p: Cost['points'][number]) => number) => {
    const start = Date.parse(cost?.points[0]?.time ?? '')
    return (cost?.points ?? []).map((p): [number, number] => [Date.parse(p.time) - start, value(p)])
  }
  const names = [diff.a.name, diff.b.name]
  const both = (value: (p: Cost['points'][number]) => number) => [{ name: names[0] ?? '', points: series(a.data, value) },
    { name: names[1] ?? '', points: series(b.data, value) }]
  const told = (a.data?.points.length ?? 0) + (b.data?.points.length ?? 0) > 0
  const latency = (diff.latency ?? []).map((l) => ({ name: l.kind, values: [l.a.sum / 1e6, l.b.sum / 1e6] }))
  return (
    <section className="stack tight"><h2>Cost and time</h2>
      {a.data && b.data && !told && <p className="muted small">Neither asked a model: there are no tokens and no cost.</p>}
      <div className="columns">
        {told && <Line title="Tokens over time" series={both((p) => p.total_tokens)} show={short} />}
        {told && <Line title="Cost over time" series={both((p) => Number(p.total_usd))} show={(v) => money(String(v))} />}
        {latency.length > 0 && <Bars title="Where the time went" rows={latency} kinds={names.map((name) => ({ name, show: duration }))} />}
        {(diff.tools?.length ?? 0) > 0 && <Bars title="Tool calls" kinds={names.map((name) => ({ name, show: count }))}
          rows={(diff.tools ?? []).slice(0, 12).map((t) => ({ name: t.tool, values: [t.a, t.b] }))} />}
      </div>
    </section>
  )
}

function Text({ title, diff }: { title: string; diff: TextDiff }) {
  return (
    <section className="stack tight">
      <h2>{title} {diff.same && <Badge tone="good">the same</Badge>}</h2>
      {!diff.a && !diff.b ? <p className="muted">Neither has one.</p>
        : diff.same ? null : <Unified text={diff.unified} label={`Difference of ${title.toLowerCase()}s`} />}
    </section>
  )
}

// Side by side as people read them; line by line for whoever wants to know exactly.
function Answers({ diff }: { diff: Diff }) {
  const a = useResource<Detail>(questPath(diff.a.name))
  const b = useResource<Detail>(questPath(diff.b.name))
  return (
    <section className="stack tight">
      <h2>Answers {diff.answer.same && <Badge tone="good">the same</Badge>}</h2>
      <div className="split even">
        {[a, b].map((side, i) => (
          <div className="card stack tight answer-side" key={i} tabIndex={0} role="region" aria-label={`Answer of ${i === 0 ? diff.a.name : diff.b.name}`}>
            <h3><i className={i === 0 ? 'dot one' : 'dot two'} />{i === 0 ? diff.a.name : diff.b.name}</h3>
            {side.data?.answer ? <Markdown text={side.data.answer} /> : <p className="muted">{side.data ? 'It has none.' : 'Reading…'}</p>}
          </div>
        ))}
      </div>
      {!diff.answer.same && diff.answer.a && diff.answer.b && <details><summary>Line by line</summary>
        <Unified text={diff.answer.unified} label="Difference of the answers" /></details>}
    </section>
  )
}

function Overlaps({ diff }: { diff: Diff }) {
  const { evidence, outputs } = diff
  const any = (o: Overlap) => o.same + o.only_a + o.only_b > 0
  const rows: [string, Overlap][] = [['cited paragraphs and outputs', evidence.anchors], ['documents', evidence.documents], ['outputs of steps', outputs]]
  return (
    <section className="stack tight"><h2>Evidence and outputs</h2>
      {rows.some(([, o]) => any(o)) ? <div className="columns">
        {rows.filter(([, o]) => any(o)).map(([name, o]) => <Shares key={name} name={name} overlap={o} a={diff.a.name} b={diff.b.name} />)}</div>
        : <p className="muted">Neither cites anything.</p>}
      {(outputs.workspaces?.length ?? 0) > 0 && <p className="small">Workspaces: {outputs.workspaces?.map((w) => <span key={w.agent}>
        {w.agent} <Badge tone={w.same ? 'good' : ''}>{w.same ? 'the same' : 'different'}</Badge> </span>)}</p>}
    </section>
  )
}

function Shares({ name, overlap, a, b }: { name: string; overlap: Overlap; a: string; b: string }) {
  const total = overlap.same + overlap.only_a + overlap.only_b
  const part = (n: number) => ({ width: `${(n / total) * 100}%` })
  return (
    <figure className="card stack tight">
      <figcaption><h3>{name}</h3></figcaption>
      <div className="shares" role="img" aria-label={`${overlap.only_a} only in ${a}, ${overlap.same} in both, ${overlap.only_b} only in ${b}`}>
        <span className="one" style={part(overlap.only_a)} /><span className="both" style={part(overlap.same)} />
          <span className="two" style={part(overlap.only_b)} />
      </div>
      <p className="small num">{overlap.only_a} only in {a} · {overlap.same} in both · {overlap.only_b} only in {b}</p>
    </figure>
  )
}
