import { questPath, query as search } from '../../api/client'
import type { Paper, Papers as Answer } from '../../api/types'
import { useQuestResource } from '../../live/context'
import { go, questLink } from '../../route'
import { visible } from '../../text/plain'
import { Badge, When } from '../../ui/show'
import { Empty, Ready } from '../../ui/states'
import { PaperStatus, Reproduced } from './badges'
import './papers.css'

const size = 100
const orders = [['latest', 'latest first'], ['citations', 'most cited'], ['votes', 'most votes']] as const
const statuses = [['', 'all'], ['PUBLISHED', 'published'], ['SUBMITTED', 'under review'], ['REJECTED', 'rejected']] as const

/** Papers lists what a lab has written. */
export default function Papers({ name, query }: { name: string; query: URLSearchParams }) {
  const order = query.get('order') ?? 'latest'
  const status = query.get('status') ?? ''
  const offset = Number(query.get('offset') ?? 0) || 0
  const papers = useQuestResource<Answer>(questPath(name, `/papers${search({ order, status, limit: size, offset: offset || undefined })}`))
  const set = (change: Record<string, string | number>) => go(questLink(name, 'papers', { order, status, ...change }), true)
  return (
    <div className="page">
      <h2 className="hidden-label">Papers</h2>
      <div className="head">
        <div className="row" role="group" aria-label="Status">
          {statuses.map(([value, label]) => <button key={value} className="button small" aria-pressed={status === value} onClick={() => set({ status: value })}>{label}{papers.data && <span className="muted num">{numberOf(papers.data, value)}</span>}</button>)}
        </div>
        <select className="order" aria-label="Order" value={order} onChange={(e) => set({ order: e.target.value })}>
          {orders.map(([value, label]) => <option key={value} value={value}>{label}</option>)}
        </select>
      </div>
      <Ready of={papers} what="the papers">
        {(data) => data.papers.length === 0
          ? <Empty title="No papers">{status ? 'None has this status.' : 'The agents have not written one yet. This list follows them.'}</Empty>
          : (
            <>
              <ul className="papers">{data.papers.map((p) => <One key={p.ref} quest={name} paper={p} />)}</ul>
              {data.total > size && <Pages offset={offset} total={data.total} set={(to) => set({ offset: to })} />}
            </>
          )}
      </Ready>
    </div>
  )
}

function numberOf({ counts }: Answer, status: string): number {
  switch (status) {
    case 'PUBLISHED': return counts.published
    case 'SUBMITTED': return counts.submitted
    case 'REJECTED': return counts.rejected
    default: return counts.published + counts.submitted + counts.rejected
  }
}

function One({ quest, paper }: { quest: string; paper: Paper }) {
  return (
    <li className="card paper-row">
      <div className="stack tight">
        <a className="title" href={questLink(quest, `papers/${paper.ref}`)}>{visible(paper.title)}</a>
        <div className="row small muted">
          <span>{paper.author}</span><span>·</span><When time={paper.time} /><span>·</span><span className="mono">{paper.ref.slice(0, 8)}</span>
          {paper.revises && <span>· a revision</span>}
          {paper.revised_by.length > 0 && <span>· revised since</span>}
        </div>
      </div>
      <div className="row badges">
        {paper.best && <Badge tone="good">most votes</Badge>}
        <PaperStatus status={paper.status} />
        {paper.reproduction && <Reproduced status={paper.reproduction} />}
      </div>
      <dl className="figures paper-figures">
        <div><dt>cited</dt><dd className="num">{paper.cited}</dd></div>
        <div><dt>votes</dt><dd className="num">{paper.votes}</dd></div>
        <div><dt>reviews</dt><dd className="num">{paper.reviews === 0 ? '0' : <><span className="tone-good">{paper.accepts}</span> / <span className="tone-bad">{paper.rejects}</span></>}</dd></div>
      </dl>
    </li>
  )
}

const Pages = ({ offset, total, set }: { offset: number; total: number; set: (to: number) => void }) => (
  <nav className="row between pages" aria-label="Pages of the list">
    <button className="button" disabled={offset === 0} onClick={() => set(Math.max(0, offset - size))}>Before</button>
    <span className="small muted num">{offset + 1} to {Math.min(total, offset + size)} of {total}</span>
    <button className="button" disabled={offset + size >= total} onClick={() => set(offset + size)}>After</button>
  </nav>
)
