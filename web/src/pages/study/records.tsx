import { useMemo, useState } from 'react'
import { blobLink, query as ask, questPath } from '../../api/client'
import { useResource } from '../../api/resource'
import type { Artifacts, Card, CardDetail, Memory, Recorded, RecordedDetail } from '../../api/types'
import { useQuestResource } from '../../live/context'
import { go, questLink } from '../../route'
import { Markdown } from '../../text/markdown'
import { visible } from '../../text/plain'
import { matches } from '../../ui/find'
import { CardGrid } from '../../ui/grid'
import { Badge, bytes, moment, several, When } from '../../ui/show'
import { Empty, Ready } from '../../ui/states'
import { recordWords } from '../quest/links'
import { Papers } from './documents'
import { Claims, Paper } from './paper'
import { toneOf } from './results'
import { Threads } from './threads'
import '../../ui/plot.css'
import './study.css'

const parts = [['artifacts', 'Artifacts'], ['memory', 'Memory'], ['documents', 'Documents'], ['threads', 'Told and asked']] as const
type Part = typeof parts[number][0]

/** Records are what a study came to, what it remembers, its documents, and what it told and asked, as cards to read. */
export default function Records({ name, query }: { name: string; query: URLSearchParams }) {
  const part: Part = query.get('card') ? 'memory' : query.get('document') ? 'documents' : parts.find(([p]) => p === query.get('part'))?.[0] ?? 'artifacts'
  return (
    <div className="page records">
      <h2 className="hidden-label">Records</h2>
      <nav className="tabs" aria-label="Parts of the records">
        {parts.map(([id, label]) => <a key={id} href={questLink(name, 'records', { part: id })} aria-current={part === id ? 'page' : undefined}>{label}</a>)}
      </nav>
      {part === 'artifacts' && <ArtifactCards name={name} chosen={query.get('artifact') ?? ''} />}
      {part === 'memory' && <MemoryCards name={name} chosen={query.get('card') ?? ''} />}
      {part === 'threads' && <Threads name={name} />}
      {part === 'documents' && <Papers name={name} chosen={query.get('document') ?? ''} />}
    </div>
  )
}

type Picked = { kinds: string[]; kind: string; onKind: (to: string) => void; asked: string; onAsked: (to: string) => void }

const Filter = ({ kinds, kind, onKind, asked, onAsked }: Picked) => (
  <div className="row filter">
    <input type="search" aria-label="Search" placeholder="Search" value={asked} onChange={(e) => onAsked(e.target.value)} />
    <select aria-label="Kind" value={kind} onChange={(e) => onKind(e.target.value)}>
      <option value="">all kinds</option>
      {kinds.map((k) => <option key={k}>{k}</option>)}
    </select>
  </div>
)

const wordsOf = (r: Recorded) => [r.id, r.kind, r.title, r.summary, r.branch, r.stage, r.verdict].join(' ')

function ArtifactCards({ name, chosen }: { name: string; chosen: string }) {
  const list = useQuestResource<Artifacts>(questPath(name, '/artifacts'))
  const [kind, setKind] = useState('')
  const [asked, setAsked] = useState('')
  const all = useMemo(() => [...(list.data?.recorded ?? [])].sort((a, b) => b.seq - a.seq), [list.data])
  const kinds = useMemo(() => [...new Set(all.map((r) => r.kind))].sort(), [all])
  const shown = useMemo(() => {
    const found = matches(all, asked, wordsOf, (r) => r.id)
    return all.filter((r) => (!kind || r.kind === kind) && (!found || found.has(r.id)))
  }, [all, kind, asked])
  if (chosen) return <OneArtifact key={chosen} name={name} id={chosen} all={all} />
  return (
    <Ready of={list} what="the artifacts">{() => (all.length === 0
      ? <Empty title="No artifacts yet">Ideas, decisions, results and reports are shown here as they are recorded.</Empty>
      : (
        <>
          <Filter kinds={kinds} kind={kind} onKind={setKind} asked={asked} onAsked={setAsked} />
          {shown.length === 0 ? <Empty title="None is like that" /> : <CardGrid items={shown} least={300} guess={150} label="Artifacts"
            card={(r) => <ArtifactCard key={r.id} name={name} record={r} />} />}
        </>
      ))}</Ready>
  )
}

const ArtifactCard = ({ name, record: r }: { name: string; record: Recorded }) => (
  <article className={`card stack tight record ${r.replaced_by ? 'old' : ''}`}>
    <div className="row between"><span className="row"><Badge>{visible(r.kind)}</Badge>
      {r.verdict && <Badge tone={toneOf(r.verdict)}>{visible(r.verdict)}</Badge>}
      {r.replaced_by && <Badge>replaced</Badge>}</span><span className="small muted mono">{visible(r.id)}</span></div>
    <h3 className="clamp"><a href={questLink(name, 'records', { artifact: r.id })}>{visible(r.title)}</a></h3>
    {(r.metrics ?? []).slice(0, 3).map((m) => <p key={m.name} className="small num">{visible(m.name)} <b>{visible(m.value)}</b> {visible(m.unit ?? '')}</p>)}
    {r.summary && !r.summary.startsWith(r.title) && <p className="small clamp">{visible(withoutMarks(r.summary))}</p>}
    <p className="small muted">{visible(r.stage)} on <span className="mono">{visible(r.branch)}</span> · <When time={r.time} /></p>
  </article>
)

const back = (name: string, part: Part, words: string) => <a className="small" href={questLink(name, 'records', { part })}>‹ {words}</a>

// What is summed up in a line has lost its lines, and the marks of headings with them their meaning.
const withoutMarks = (text: string) => text.replace(/(?:^|\s)#{1,6} /g, ' ').trim()

function OneArtifact({ name, id, all }: { name: string; id: string; all: Recorded[] }) {
  const words = useMemo(() => ({ word: recordWords(name) }), [name])
  const one = useQuestResource<RecordedDetail>(questPath(name, `/artifacts/${encodeURIComponent(id)}`))
  return (
    <div className="stack">
      {back(name, 'artifacts', 'All artifacts')}
      <Ready of={one} what="the artifact">{(r) => (
        <article className="card stack" aria-labelledby="record-title">
          <div className="row"><Badge>{visible(r.kind)}</Badge>{r.verdict && <Badge tone={toneOf(r.verdict)}>{visible(r.verdict)}</Badge>}
            <span className="small muted mono">{visible(r.id)}</span></div>
          <h2 id="record-title" className="paper-heading">{visible(r.title)}</h2>
          {r.replaced_by && <p className="note warn">Another took its place: <a href={questLink(name, 'records', { artifact: r.replaced_by })}>
            {visible(r.replaced_by)}</a></p>}
          {r.why && <p className="note">{visible(r.why)}</p>}
          {r.kind !== 'paper' && r.text ? <Markdown text={r.text} context={words} /> : r.summary && <p>{visible(r.summary)}</p>}
          {r.ref && <a className="small" href={blobLink(r.ref.hash, 'text.txt')}>all of it, {bytes(r.ref.size)}</a>}
          {r.kind === 'paper' && <Paper quest={name} paper={r} recorded={all} />}
          {r.kind === 'outline' && <Claims quest={name} outline={r} recorded={all} />}
          {(r.metrics ?? []).length > 0 && <Figures record={r} />}
          {r.against.length > 0 && <Markdown text={r.against.map((line) => (line.startsWith('- ') ? line : `\n${line}\n`)).join('\n')} context={words} />}
          <dl className="facts">
            <dt>where</dt><dd>{visible(r.stage)} on <a className="mono" href={questLink(name, 'canvas', { node: r.branch })}>{visible(r.branch)}</a></dd>
            <dt>when</dt><dd>{moment(r.time)}, <a href={questLink(name, 'timeline', { seq: r.seq })}>event {r.seq}</a></dd>
            {r.action && <><dt>action</dt><dd>{visible(r.action)}</dd></>}
            {r.entrypoint && <><dt>program</dt><dd className="mono">{visible(r.entrypoint)}</dd></>}
            {r.because.length > 0 && <><dt>rests on</dt><dd className="row">{r.because.map((b) => <a key={b} href={/^\d+$/.test(b) ? questLink(name, 'timeline', { seq: b })
              : questLink(name, 'records', { artifact: b })}>{visible(b)}</a>)}</dd></>}
            {r.supersedes && <><dt>replaces</dt><dd><a href={questLink(name, 'records', { artifact: r.supersedes })}>{visible(r.supersedes)}</a></dd></>}
            {r.output && <><dt>output</dt><dd><a href={blobLink(r.output.hash, 'output.txt')}>{bytes(r.output.size)}</a></dd></>}
          </dl>
          {(r.questions ?? []).length > 0 && <ul className="edges">{(r.questions ?? []).map((q) => <li key={q.id}><b>{visible(q.id)}</b> {visible(q.question)}
            {q.result && <a href={questLink(name, 'records', { artifact: q.result })}>{visible(q.result)}</a>}</li>)}</ul>}
        </article>
      )}</Ready>
    </div>
  )
}

const Figures = ({ record: r }: { record: RecordedDetail }) => (
  <div className="table-box"><table className="plot-table num">
    <thead><tr><th scope="col">Figure</th><th scope="col">Value</th><th scope="col">Better</th><th scope="col">Tolerance</th></tr></thead>
    <tbody>{(r.metrics ?? []).map((m) => <tr key={m.name}><th scope="row">{visible(m.name)}</th><td>{visible(m.value)} {visible(m.unit ?? '')}</td>
      <td>{m.direction}</td><td>{visible(m.tolerance || '0')}</td></tr>)}</tbody>
  </table></div>
)

function MemoryCards({ name, chosen }: { name: string; chosen: string }) {
  const [kind, setKind] = useState('')
  const [asked, setAsked] = useState('')
  const list = useQuestResource<Memory>(questPath(name, `/memory${ask({ kind, q: asked.trim() })}`))
  if (chosen) return <OneCard key={chosen} name={name} id={chosen} />
  const bare = !kind && !asked.trim()
  return (
    <Ready of={list} what="the memory">{(m) => (m.cards.length === 0 && bare
      ? <Empty title="Nothing remembered yet">Cards are what later sittings find: papers, ideas, decisions, episodes, knowledge, templates.</Empty>
      : (
        <>
          <Filter kinds={m.kinds} kind={kind} onKind={setKind} asked={asked} onAsked={setAsked} />
          {m.cards.length === 0 ? <Empty title="None is like that" />
            : <CardGrid items={m.cards} least={300} guess={140} label="Cards" card={(c) => <MemoryOne key={c.id} name={name} card={c} />} />}
          {m.total > m.cards.length && <p className="small muted">The newest {m.cards.length} of {m.total}.</p>}
        </>
      ))}</Ready>
  )
}

const MemoryOne = ({ name, card: c }: { name: string; card: Card }) => (
  <article className="card stack tight record">
    <div className="row between"><span className="row"><Badge>{visible(c.kind)}</Badge>{c.approved && <Badge tone="good">for all studies</Badge>}
      {!c.approved && c.offered ? <Badge tone="asks">wants approval</Badge> : null}</span>
      <span className="small muted">{c.revision > 1 && several(c.revision, 'revision')}</span></div>
    <h3><a href={questLink(name, 'records', { card: c.id })}>{visible(c.title)}</a></h3>
    <p className="small clamp">{visible(c.summary)}</p>
    <p className="small muted row">{c.tags.map((t) => <span key={t}>#{visible(t)}</span>)}<span>{visible(c.stage)}</span><When time={c.changed} /></p>
  </article>
)

function OneCard({ name, id }: { name: string; id: string }) {
  const one = useResource<CardDetail>(questPath(name, `/memory/${encodeURIComponent(id)}`))
  return (
    <div className="stack">
      {back(name, 'memory', 'All cards')}
      <Ready of={one} what="the card">{(c) => (
        <article className="card stack" aria-labelledby="card-title">
          <div className="row"><Badge>{visible(c.kind)}</Badge>{c.approved && <Badge tone="good">for all studies</Badge>}
            <span className="small muted mono">{visible(c.id)}</span></div>
          <h2 id="card-title" className="paper-heading">{visible(c.title)}</h2>
          {!c.approved && c.offered ? <p className="note warn">It is offered to all studies of this home. Read it, and say{' '}
            <code>/approve {visible(c.id)}</code> in the <button className="link" onClick={() => go(questLink(name, 'talk'))}>conversation</button>.</p> : null}
          <Markdown text={c.text} />
          {c.ref && <a className="small" href={blobLink(c.ref.hash, 'card.md')}>all of it, {bytes(c.ref.size)}</a>}
          <details><summary>{several(c.revisions.length, 'revision')}</summary>
            <ol className="moves small">{c.revisions.map((r) => <li key={r.revision}>
              <a className="num" href={questLink(name, 'timeline', { seq: r.seq })}>{r.seq}</a>{' '}{visible(r.title)}, {moment(r.time)}</li>)}</ol></details>
        </article>
      )}</Ready>
    </div>
  )
}
