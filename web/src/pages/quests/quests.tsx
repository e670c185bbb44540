import { useEffect, useState } from 'react'
import { useResource } from '../../api/resource'
import type { Quests as Answer, Summary } from '../../api/types'
import { questLink } from '../../route'
import { Empty, Ready } from '../../ui/states'
import { Asked, Held, money, price, short, StatusBadge, When } from '../../ui/show'
import { MeasuredList } from '../../ui/measured'
import { Meter } from '../../ui/meter'
import { titled } from '../../ui/title'
import { Spark } from '../../ui/spark'
import './quests.css'

const every = 3000

/** Quests lists them all. Nothing streams here: it asks again while somebody looks. */
export function Quests() {
  const [round, setRound] = useState(0)
  const [find, setFind] = useState('')
  useEffect(() => {
    const timer = window.setInterval(() => document.visibilityState === 'visible' && setRound((n) => n + 1), every)
    return () => window.clearInterval(timer)
  }, [])
  const quests = useResource<Answer>('/quests', round)
  const asked = quests.data?.quests.reduce((n, q) => n + q.open_questions, 0) ?? 0
  useEffect(() => { document.title = titled('Quests · Lyceum', asked) }, [asked])
  return (
    <div className="page">
      <div className="head">
        <h1>Quests</h1>
        <div className="row">
          {(quests.data?.quests.length ?? 0) > 6 && (
            <input className="find" type="search" aria-label="Find a quest" placeholder="Find a quest" value={find} onChange={(e) => setFind(e.target.value)} />
          )}
          {(quests.data?.quests.length ?? 0) > 0 && <a className="button first" href="#/new">New quest</a>}
        </div>
      </div>
      {quests.failure?.status === 0 && quests.data && (
        <p className="note warn" role="status">The server does not answer; this is what it said last. Trying again every few seconds.</p>
      )}
      <Ready of={quests} what="the quests">
        {({ quests: all }) => all.length === 0 ? <None /> : <List quests={all.filter((q) => matches(q, find))} />}
      </Ready>
    </div>
  )
}

const matches = (quest: Summary, find: string) =>
  `${quest.name} ${quest.society} ${quest.status} ${quest.models.join(' ')}`.toLowerCase().includes(find.trim().toLowerCase())

const None = () => (
  <Empty title="No quests yet" action={<a className="button first" href="#/new">New quest</a>}>
    A quest puts one question to a society of agents. The examples run offline and need no key: begin with one of them.
  </Empty>
)

function List({ quests }: { quests: Summary[] }) {
  if (quests.length === 0) return <Empty title="No quest is called so">Clear the field above to see them all.</Empty>
  return <MeasuredList className="quests" count={quests.length} guess={66} label="Quests"
    row={(n) => { const quest = quests[n]; return quest && <Card key={quest.name} quest={quest} /> }} />
}

function Card({ quest }: { quest: Summary }) {
  const papers = quest.papers
  return (
    <div className="card quest-card">
      <div className="name">
        <a href={questLink(quest.name)}>{quest.name}</a>
        <StatusBadge status={quest.status} /><Held quest={quest} />
        <Asked open={quest.open_questions} />
        {quest.reason && <span className="muted small clip" title={quest.reason}>{quest.reason}</span>}
      </div>
      <dl className="figures">
        <Figure name="society">{quest.society || '–'}</Figure>
        <Figure name="agents">{quest.agents}</Figure>
        <Figure name="papers">{papers ? <span title={`${papers.published} published, ${papers.submitted} submitted, ${papers.rejected} rejected`}>
          {papers.published}<span className="muted"> / {papers.published + papers.submitted + papers.rejected}</span></span> : '–'}</Figure>
        <Figure name="votes">{quest.votes ?? '–'}</Figure>
        <Figure name="events">{short(quest.events)}</Figure>
      </dl>
      <div className="cost"><Cost quest={quest} /></div>
      <Spark data={quest.activity} />
      <div className="when muted small"><When time={quest.updated} /></div>
    </div>
  )
}

function Cost({ quest }: { quest: Summary }) {
  const limit = quest.limits.cost_usd
  if (limit === undefined) return <dl className="figures alone"><Figure name="cost">{price(quest.cost_usd, quest.cost_at_least_usd)}</Figure></dl>
  return <Meter label="cost" used={Number(quest.cost_usd ?? quest.cost_at_least_usd)} limit={Number(limit)} show={(n) => money(String(n))}
    said={price(quest.cost_usd, quest.cost_at_least_usd)} />
}

const Figure = ({ name, children }: { name: string; children: React.ReactNode }) => (
  <div><dt>{name}</dt><dd className="num">{children}</dd></div>
)
