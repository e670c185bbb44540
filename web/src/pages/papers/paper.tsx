import { useMemo } from 'react'
import { blobLink, questPath } from '../../api/client'
import type { Link, PaperDetail } from '../../api/types'
import { useQuestResource } from '../../live/context'
import { questLink } from '../../route'
import { Markdown, type Context } from '../../text/markdown'
import { visible } from '../../text/plain'
import { Unified } from '../../ui/diff'
import { CardGrid } from '../../ui/grid'
import { MeasuredList } from '../../ui/measured'
import { Badge, bytes, duration, When } from '../../ui/show'
import { Ready } from '../../ui/states'
import { paperWords } from '../quest/links'
import { Attachments } from './attachments'
import { Grade, PaperStatus, Reproduced } from './badges'
import './papers.css'

/** Paper shows one with all that was said about it. */
export default function Paper({ name, id }: { name: string; id: string }) {
  const paper = useQuestResource<PaperDetail>(questPath(name, `/papers/${encodeURIComponent(id)}`))
  return <div className="page"><Ready of={paper} what="the paper">{(p) => <Shown quest={name} paper={p} />}</Ready></div>
}

const many = 30

const picture = /\.(?:png|jpe?g|gif|webp)$/i

function Shown({ quest, paper }: { quest: string; paper: PaperDetail }) {
  const context = useMemo<Context>(() => ({
    word: paperWords(quest),
    images: new Map(paper.attachments.filter((a) => picture.test(a.name)).map((a) => [a.name, a.hash])),
    // A paper keeps its attachments; every answer of the server has them as a new list.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }), [quest, paper.ref])
  return (
    <article className="stack loose">
      <header className="stack tight">
        <a className="small" href={questLink(quest, 'papers')}>All papers</a>
        <h2 className="paper-title">{visible(paper.title)}</h2>
        <div className="row">
          <PaperStatus status={paper.status} />
          {paper.best && <Badge tone="good">most votes</Badge>}
          {paper.reproduction && <Reproduced status={paper.reproduction.status} missing={paper.reproduction.missing} />}
          <span className="small muted">by <a href={questLink(quest, `agents/${paper.author}`)}>{paper.author}
            </a>, <When time={paper.time} /> · <a href={questLink(quest, 'timeline', { seq: paper.seq })}>event {paper.seq}
            </a> · <span className="mono">{paper.ref}</span></span>
        </div>
        <Revisions quest={quest} paper={paper} />
      </header>
      <div className="split">
        <section className="card" aria-label="Text"><Markdown text={paper.content} context={context} /></section>
        <aside className="stack" aria-label="About the paper"><Side quest={quest} paper={paper} /></aside>
      </div>
      <Reviews quest={quest} paper={paper} context={context} />
      {paper.revision && (
        <section className="stack tight">
          <h2>What changed since <a href={questLink(quest, `papers/${paper.revision.from}`)}>{paper.revision.from.slice(0, 8)}</a></h2>
          <Unified text={paper.revision.unified} label="Difference from the paper that it revises" />
        </section>
      )}
    </article>
  )
}

function Revisions({ quest, paper }: { quest: string; paper: PaperDetail }) {
  if (!paper.revises && paper.revised_by.length === 0) return null
  const to = (ref: string) => <a key={ref} href={questLink(quest, `papers/${ref}`)}>{ref.slice(0, 8)}</a>
  return (
    <p className="note">
      {paper.revises && <>It takes the place of {to(paper.revises)}. </>}
      {paper.revised_by.length > 0 && <>There is a later version: {paper.revised_by.map(to)}.</>}
    </p>
  )
}

function Side({ quest, paper }: { quest: string; paper: PaperDetail }) {
  const r = paper.reproduction
  return (
    <>
      <section className="card">
        <dl className="facts">
          <dt>cited</dt><dd>{paper.cited}</dd>
          <dt>votes</dt><dd>{paper.votes}{paper.voters.length > 0 && <span className="muted"> {paper.voters.join(', ')}</span>}</dd>
          <dt>reviews</dt><dd>{paper.reviews.length === 0 ? 'none' : `${paper.accepts} accept, ${paper.rejects} reject`}</dd>
          {paper.claims.length > 0 && <><dt>{paper.named ? 'claims' : 'numbers'}</dt><dd>{visible(paper.claims.join(', '))}</dd></>}
        </dl>
      </section>
      {r && (
        <section className="card stack tight">
          <h3>Reproduction</h3>
          <div className="row"><Reproduced status={r.status} missing={r.missing} />
            {r.duration_us !== undefined && <span className="small muted">{duration(r.duration_us / 1e6)}</span>}</div>
          {r.reason && <p className="small">{visible(r.reason)}</p>}
          {r.missing && r.missing.length > 0 && <p className="note bad small">Not in the output: {visible(r.missing.join(', '))}</p>}
          {r.printed && <pre className="pre small" tabIndex={0} aria-label="What it printed">{visible(r.printed)}</pre>}
          {r.output && <a className="small" href={blobLink(r.output.hash, 'output.txt')}>its output, {bytes(r.output.size)}</a>}
          {r.second && <a className="small" href={blobLink(r.second.hash, 'second-output.txt')}>the second output, {bytes(r.second.size)}</a>}
        </section>
      )}
      {paper.attachments.length > 0 && <Attachments attachments={paper.attachments} />}
      <Links title="Seems to repeat" quest={quest} links={paper.repeats} />
      <Links title="Cites" quest={quest} links={paper.citations} />
      <Links title="Cited by" quest={quest} links={paper.cited_by} />
    </>
  )
}

function Links({ title, quest, links }: { title: string; quest: string; links: Link[] }) {
  if (links.length === 0) return null
  const one = (l: Link) => <><a href={questLink(quest, `papers/${l.ref}`)}>{visible(l.title)}</a> <span className="muted">{l.author}
    {l.self && ', the same author: does not count'}</span></>
  return (
    <section className="card stack tight">
      <h3>{title} <span className="muted num">{links.length}</span></h3>
      {links.length > many ? <MeasuredList own className="small many-links" count={links.length} guess={26} label={title}
        row={(n) => links[n] && one(links[n])} />
        : <ul className="stack tight small">{links.map((l) => <li key={l.ref}>{one(l)}</li>)}</ul>}
    </section>
  )
}

function Reviews({ quest, paper, context }: { quest: string; paper: PaperDetail; context: Context }) {
  const open = paper.requests.filter((r) => r.state === 'open')
  const expired = paper.requests.filter((r) => r.state === 'expired')
  return (
    <section className="stack tight">
      <h2>Reviews</h2>
      {paper.reviews.length === 0 && open.length === 0 && <p className="muted">Nobody has reviewed it.</p>}
      <CardGrid items={paper.reviews} least={320} guess={160} label="Reviews" card={(r) => (
        <div className="card review" key={r.seq}>
          <div className="row between"><h3><a href={questLink(quest, `agents/${r.reviewer}`)}>{r.reviewer}</a></h3><Grade grade={r.grade} /></div>
          <Markdown text={r.content} context={context} />
          <dl className="facts small">
            {r.confidence !== undefined && <><dt>sure</dt><dd>{r.confidence} of 5</dd></>}
            {r.claim && <><dt>claim</dt><dd>{visible(r.claim)}</dd></>}
            {r.ran && <><dt>ran</dt><dd>{visible(r.ran)}</dd></>}
            {r.counterexample && <><dt>tried</dt><dd>{visible(r.counterexample)}</dd></>}
          </dl>
          <a className="small" href={questLink(quest, 'timeline', { seq: r.seq })}>event {r.seq}</a>
        </div>
      )} />
      <CardGrid items={open} least={320} guess={80} label="Reviews that are due" card={(r) => (
        <div className="card review" key={r.reviewer}><div className="row between"><h3>{r.reviewer}</h3><Badge tone="warn">asked</Badge></div>
          <p className="small muted">Due by its turn {r.deadline}.</p></div>
      )} />
      {expired.length > 0 && <p className="small muted">Asked without an answer in time: {expired.map((r) => r.reviewer).join(', ')}.</p>}
    </section>
  )
}
