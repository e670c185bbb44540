import { lazy, Suspense, useMemo } from 'react'
import { useLive } from '../../live/context'
import { questPath } from '../../api/client'
import { useResource } from '../../api/resource'
import type { Detail, Paper, PaperDetail } from '../../api/types'
import { questLink } from '../../route'
import { societyOf } from '../../society'
import { Markdown, type Context } from '../../text/markdown'
import { visible, withoutTitle, Words } from '../../text/plain'
import { Ready } from '../../ui/states'
import { Badge, count, duration, money, price, several, short, When } from '../../ui/show'
import { Meter } from '../../ui/meter'
import { Spark } from '../../ui/spark'
import { Feed } from './feed'
import { Hero } from './hero'
import { Imported } from './imported'
import { Proof } from './proof'
import { Questions } from './questions'
import { Relations } from './relations'
import { few, Team } from './team'

const Plots = lazy(() => import('./plots'))

/** Overview is a quest at work: the question, who does what, the best answer so far. */
export default function Overview({ name }: { name: string }) {
  const { quest, now } = useLive()
  if (!quest.data) return null
  const q = quest.data
  return (
    <div className="page">
      <Questions quest={q} />
      <Hero quest={q} />
      <Notices quest={q} />
      {societyOf(q.society).front?.(q)}
      <div className={q.team.length > few ? 'split now many' : 'split now'}>
        <Feed quest={q} />
        <Team name={name} team={q.team} running={q.running} questions={q.questions} />
      </div>
      <Suspense><Plots quest={q} /></Suspense>
      <div className="split">
        <div className="stack loose">
          <section className="card" aria-labelledby="problem"><h2 id="problem">Question</h2><Markdown text={q.problem} /></section>
          <Answer quest={q} />
        </div>
        <aside className="stack" aria-label="State of the quest">
          <section className="card stack" aria-label="Budget"><Budget quest={q} /></section>
          <Imported quest={q} onDone={() => { quest.again(); now() }} />
          <Relations quest={q} />
          <Proof quest={q} />
          <Facts quest={q} />
        </aside>
      </div>
    </div>
  )
}

function Notices({ quest }: { quest: Detail }) {
  const why = quest.status === 'exceeded' ? reached(quest) : quest.reason
  const lines = [quest.trouble, ...(quest.imported?.withheld ?? []), why, ...quest.warnings].filter((l): l is string => !!l)
  if (lines.length === 0) return null
  const tone = quest.status === 'failed' || quest.status === 'damaged' || quest.trouble ? 'bad' : 'warn'
  return <div className="stack tight notices">{[...new Set(lines)].map((l) => <p key={l} className={`note ${tone}`}><Words>{l}</Words></p>)}</div>
}

// The ledger names the limit; a person wants to know what to do about it.
function reached(quest: Detail): string {
  const limit = quest.reason ?? ''
  if (!limitNames.includes(limit)) return limit
  return `The limit on ${limit} is reached. Go on with a higher one: lyceum run ${quest.name} --max-${limit} …`
}

const limitNames = ['cost', 'turns', 'tokens', 'duration', 'storage']

function Answer({ quest }: { quest: Detail }) {
  const { name, society } = quest
  const links = useMemo(() => ({ word: societyOf(society).word(name) }), [name, society])
  const final = quest.status === 'finished' || quest.status === 'completed_with_warnings'
  return (
    <section className="card" aria-labelledby="answer">
      <div className="row between answer-head">
        <h2 id="answer">{final ? 'Answer' : 'Best answer so far'}</h2>
        {quest.best && <a className="small" href={questLink(quest.name,
          `papers/${quest.best.ref}`)}>paper by {quest.best.author}, {quest.best.votes} {quest.best.votes === 1 ? 'vote' : 'votes'}</a>}
        {societyOf(society).beside?.(quest)}
      </div>
      {quest.answer ? <Markdown text={final ? withoutTitle(quest.answer, 'Answer') : quest.answer} context={links} />
        : quest.best ? <Best name={quest.name} paper={quest.best} context={links} />
        : <p className="muted">{quest.status === 'waiting' ? 'Nobody has proposed one yet. The agents wait for an answer of yours.'
          : quest.running ? 'Nobody has proposed one yet. It appears here as soon as there is one.'
          : 'There is none. Start the quest to get one.'}</p>}
    </section>
  )
}

// Until the quest has its answer, the paper with the most votes stands for it.
function Best({ name, paper, context }: { name: string; paper: Paper; context: Context }) {
  const whole = useResource<PaperDetail>(questPath(name, `/papers/${paper.ref}`))
  return (
    <div className="stack tight">
      <h3 className="paper-heading">{visible(paper.title)}</h3>
      <Ready of={whole} what="the paper">{(p) => <Markdown text={p.content} context={context} />}</Ready>
    </div>
  )
}

function Budget({ quest }: { quest: Detail }) {
  const { limits } = quest
  return (
    <>
      <Meter label="Cost" used={Number(quest.cost_usd ?? quest.cost_at_least_usd)} limit={limits.cost_usd === undefined ? undefined : Number(limits.cost_usd)}
        show={(n) => money(String(n))} said={price(quest.cost_usd, quest.cost_at_least_usd)} />
      <Meter label="Turns" used={quest.turns} limit={limits.turns} show={count} />
      <Meter label="Tokens" used={quest.tokens} limit={limits.tokens} show={short} />
      <Meter label="Time" used={quest.seconds} limit={limits.seconds} show={duration} />
      {quest.unpriced_calls > 0 && <p className="small muted">The cost of {several(quest.unpriced_calls, 'call')} is not known.</p>}
      {quest.recalled_calls ? <p className="small muted">{several(quest.recalled_calls, 'call')} answered from earlier answers, at no cost.</p> : null}
      {quest.estimated_calls ? (
        <p className="small muted">The cost is an upper bound: of {several(quest.estimated_calls, 'call')} the provider did not tell what they used.</p>
      ) : null}
    </>
  )
}

function Facts({ quest }: { quest: Detail }) {
  const [term, fact] = societyOf(quest.society).fact?.(quest) ?? []
  return (
    <section className="card" aria-label="Facts">
      <Spark data={quest.activity} />
      <dl className="facts">
        <dt>society</dt><dd>{quest.rules}</dd>
        {quest.models.length > 0 && <><dt>model</dt><dd>{quest.models.join(', ')}</dd></>}
        {quest.computer && <><dt>computer</dt><dd>{quest.computer}</dd></>}
        {term && <><dt>{term}</dt><dd>{fact}</dd></>}
        <dt>seed</dt><dd>{quest.seed}</dd>
        <dt>made</dt><dd><When time={quest.created} /></dd>
        {quest.forked_from && <><dt>fork of</dt><dd><a href={questLink(quest.forked_from.quest, 'timeline', { seq: quest.forked_from.at })}>
          {quest.forked_from.quest} at {quest.forked_from.at}</a> · <a href={`#/compare?a=${quest.forked_from.quest}&b=${quest.name}`}>compare</a></dd></>}
        <dt>head</dt><dd className="mono" title={quest.hash}>{quest.hash.slice(0, 16)}…</dd>
      </dl>
      {quest.policies.length > 0 && <div className="row policies">{quest.policies.map((p) => <Badge key={p.name}>{p.name}</Badge>)}</div>}
      <details className="spec"><summary>quest.yaml</summary><pre className="pre" tabIndex={0}>{quest.spec}</pre></details>
    </section>
  )
}
