import { useCallback } from 'react'
import { get, questPath, query as search } from '../../api/client'
import { usePages } from '../../api/pages'
import { useResource } from '../../api/resource'
import type { Paper, Papers as Answer } from '../../api/types'
import { useLive } from '../../live/context'
import { go, questLink } from '../../route'
import { visible } from '../../text/plain'
import { MeasuredList } from '../../ui/measured'
import { Badge, When } from '../../ui/show'
import { Empty, Ready } from '../../ui/states'
import { PaperStatus, Reproduced } from './badges'
import './papers.css'

const size = 100
const guess = 86
const orders = [['latest', 'latest first'], ['citations', 'most cited'], ['votes', 'most votes']] as const
const statuses = [['', 'all'], ['PUBLISHED', 'published'], ['SUBMITTED', 'under review'], ['REJECTED', 'rejected']] as const

/** Papers lists what a lab has written. */
export default function Papers({ name, query }: { name: string; query: URLSearchParams }) {
  const order = query.get('order') ?? 'latest'
  const status = query.get('status') ?? ''
  const { snapshot } = useLive()
  // How many there are; the rows themselves are read where somebody looks.
  const counts = useResource<Answer>(questPath(name, `/papers${search({ status, limit: 1 })}`), snapshot.version)
  const set = (change: Record<string, string | number>) => go(questLink(name, 'papers', { order, status, ...change }), true)
  return (
    <div className="page">
      <h2 className="hidden-label">Papers</h2>
      <div className="head">
        <div className="row" role="group" aria-label="Status">
          {statuses.map(([value, label]) => <button key={value} className="button small" aria-pressed={status === value}
            onClick={() => set({ status: value })}>{label}{counts.data && <span className="muted num">{numberOf(counts.data, value)}</span>}</button>)}
        </div>
        <select className="order" aria-label="Order" value={order} onChange={(e) => set({ order: e.target.value })}>
          {orders.map(([value, label]) => <option key={value} value={value}>{label}</option>)}
        </select>
      </div>
      <Ready of={counts} what="the papers">
        {({ total }) => total === 0
          ? <Empty title="No papers">{status ? 'None has this status.' : 'The agents have not written one yet. This list follows them.'}</Empty>
          : <List key={`${order}/${status}`} quest={name} order={order} status={status} total={total} />}
      </Ready>
    </div>
  )
}

function List({ quest, order, status, total }: { quest: string; order: string; status: string; total: number }) {
  const { snapshot } = useLive()
  const pages = usePages<Paper>(size, async (index, gone) => {
    const { papers } = await get<Answer>(questPath(quest, `/papers${search({ order, status, limit: size, offset: index * size || undefined })}`), gone)
    return { rows: papers, settled: false } // votes and citations come later
  }, `${quest} ${order} ${status}`, `${snapshot.version} ${total}`)
  // The latest comes first: counted from the end, a paper keeps its number when others come.
  const first = order === 'latest' ? -total : 0
  const need = useCallback((from: number, to: number) => pages.want(from - first, to - first), [pages, first])
  return (
    <MeasuredList className="papers" first={first} count={total} guess={guess} label="Papers" onRange={need}
      row={(n) => { const paper = pages.at(n - first); return paper && <One quest={quest} paper={paper} /> }} />
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
    <div className="card paper-row">
      <div className="stack tight">
        <a className="title" href={questLink(quest, `papers/${paper.ref}`)}>{visible(paper.title)}</a>
        {paper.value && <div className="value clip">{visible(paper.value)}</div>}
        <div className="row small muted">
          <span>{paper.author}</span><span>·</span><When time={paper.time} /><span>·</span><span className="mono">{paper.ref.slice(0, 8)}</span>
          {paper.revises && <span>· a revision</span>}
          {paper.revised_by.length > 0 && <span>· revised since</span>}
        </div>
      </div>
      <div className="row badges">
        {paper.best && <Badge tone="good">most votes</Badge>}
        <PaperStatus status={paper.status} />
        {paper.reproduction && <Reproduced status={paper.reproduction} missing={paper.missing} />}
      </div>
      <dl className="figures paper-figures">
        {paper.cited > 0 && <div className="cited"><dt>cited</dt><dd className="num">{paper.cited}</dd></div>}
        {paper.votes > 0 && <div className="votes"><dt>votes</dt><dd className="num">{paper.votes}</dd></div>}
        {paper.reviews > 0 && <div className="reviews"><dt>reviews</dt><dd className="num">
          <span className="tone-good">{paper.accepts}</span> / <span className="tone-bad">{paper.rejects}</span></dd></div>}
      </dl>
    </div>
  )
}
