import { useEffect, useRef, useState } from 'react'
import { query as ask, questPath } from '../../api/client'
import { useResource } from '../../api/resource'
import type { BranchNode, Branches, Comparison, EventNode, FileDiff, NodeTraces, StageNode, StudyEdge } from '../../api/types'
import { questLink } from '../../route'
import { visible } from '../../text/plain'
import { DiffView } from '../../ui/diffview'
import { Badge, moment, several } from '../../ui/show'
import { Ready } from '../../ui/states'
import { subjectOf } from './lanes'
import { toneOf } from './results'

type Props = { quest: string; branches: Branches; traces?: NodeTraces; chosen: string; onGo: (id: string) => void; onClose: () => void }

/** Panel tells of what is chosen: a line of work with what it changed, something that came of one, or a stage. */
export function Panel({ quest, branches, traces, chosen, onGo, onClose }: Props) {
  const branch = branches.nodes.find((b) => b.ref === chosen)
  const event = traces?.events.find((e) => e.selection_ref === chosen)
  const stage = traces?.stages.find((s) => s.selection_ref === chosen)
  if (!branch && !event && !stage) return null
  return (
    <aside className="canvas-panel" aria-label="About what is chosen">
      <div className="row between"><span className="small muted">{branch ? branch.branch_kind : event ? event.kind : 'stage'}</span>
        <button className="button small quiet" onClick={onClose} aria-label="Close the panel">✕</button></div>
      {branch && <OfBranch quest={quest} branch={branch} against={againstOf(branches, branch)} />}
      {event && traces && <OfEvent quest={quest} event={event} traces={traces} onGo={onGo} />}
      {stage && <OfStage quest={quest} stage={stage} />}
    </aside>
  )
}

const outcomes: Record<string, string> = { better: 'good', worse: 'bad', tie: '', 'not comparable': 'warn' }

// A result is held against the baseline; all else against what it came from.
const againstOf = (all: Branches, b: BranchNode) => all.edges.find((e) => e.kind === 'compares' && e.from === b.ref)?.to ?? b.compare_base ?? b.parent_ref

function OfBranch({ quest, branch: b, against }: { quest: string; branch: BranchNode; against?: string }) {
  const m = b.latest_metric
  return (
    <>
      <h2 className="mono">{visible(b.ref)}</h2>
      <div className="row">{b.current && <Badge tone="live">here</Badge>}{b.closed && <Badge>closed</Badge>}
        {m?.verdict && <Badge tone={toneOf(m.verdict)}>{visible(m.verdict)}</Badge>}
        {m?.outcome && <Badge tone={outcomes[m.outcome]}>{visible(m.outcome)}</Badge>}</div>
      {b.subject && <p>{visible(subjectOf(b))}</p>}
      {b.latest_summary && b.latest_summary !== b.subject && <p className="small">{visible(b.latest_summary)}</p>}
      <dl className="facts">
        {m && <><dt>{visible(m.name)}</dt><dd className="num">{visible(m.value)} {visible(m.unit ?? '')}</dd></>}
        <dt>files</dt><dd className="mono">{visible(b.worktree_root)}</dd>
        <dt>checkpoints</dt><dd className="num">{b.commit_count}{b.behind > 0 && `, ${b.behind} behind`}</dd>
        {b.parent_ref && <><dt>from</dt><dd className="mono">{visible(b.parent_ref)}</dd></>}
        {b.updated_at && <><dt>changed</dt><dd>{moment(b.updated_at)}</dd></>}
      </dl>
      {b.recent_artifacts.length > 0 && <p className="row small">{b.recent_artifacts.map((id) => <a key={id}
        href={questLink(quest, 'records', { artifact: id })}>{visible(id)}</a>)}</p>}
      {against && b.head && <Changed quest={quest} base={against} head={b.ref} />}
    </>
  )
}

// What a line of work changed against another: its files, each of which can be opened.
function Changed({ quest, base, head }: { quest: string; base: string; head: string }) {
  const [path, setPath] = useState('')
  const compared = useResource<Comparison>(questPath(quest, `/compare${ask({ base, head })}`))
  return (
    <section className="stack tight" aria-label="What it changed">
      <h3>Against <span className="mono">{visible(base)}</span></h3>
      <Ready of={compared} what="the comparison">{(c) => (
        <>
          {c.lines.map((l, i) => <p key={i} className="small">{visible(l)}</p>)}
          <p className="small muted num">{several(c.files.length + c.more, 'file')}, <span className="tone-good">+{c.added}</span>{' '}
            <span className="tone-bad">−{c.removed}</span></p>
          <ul className="stack tight">
            {c.files.map((f) => <li key={f.path}><button className="link mono small" aria-expanded={path === f.path}
              onClick={() => setPath(path === f.path ? '' : f.path)}>{visible(f.path)}</button>{' '}
              <span className="small muted num">{f.binary ? 'binary' : `+${f.added} −${f.removed}`}</span></li>)}
          </ul>
        </>
      )}</Ready>
      {path && <OneFile quest={quest} base={base} head={head} path={path} />}
    </section>
  )
}

function OneFile({ quest, base, head, path }: { quest: string; base: string; head: string; path: string }) {
  const file = useResource<FileDiff>(questPath(quest, `/diff${ask({ base, head, path })}`))
  const here = useRef<HTMLDivElement>(null)
  const there = file.data !== undefined
  useEffect(() => { if (there) here.current?.scrollIntoView({ block: 'nearest' }) }, [there])
  return <div ref={here}><Ready of={file} what="the difference">{(f) => (f.binary ? <p className="note">It is not text.</p>
    : <DiffView patch={f.patch} label={`What changed in ${path}`} aside={f.truncated ? <span>only its beginning</span> : undefined} />)}</Ready></div>
}

const inward: Record<StudyEdge['kind'], string> = {
  branch: 'came after', sequence: 'came after', stage: 'came after', evidence: 'rests on', decision: 'was decided by', compares: 'is held against it:',
  supersedes: 'was replaced by',
}
const outward: Record<StudyEdge['kind'], string> = {
  branch: 'before', sequence: 'before', stage: 'before', evidence: 'is evidence for', decision: 'decided', compares: 'is compared with', supersedes: 'replaces',
}

function OfEvent({ quest, event: e, traces, onGo }: { quest: string; event: EventNode; traces: NodeTraces; onGo: (id: string) => void }) {
  const edges = traces.edges.filter((x) => (x.from === e.selection_ref || x.to === e.selection_ref) && x.kind !== 'sequence')
  const title = new Map(traces.events.map((x) => [x.selection_ref, x.title]))
  const verdict = e.artifact?.verdict
  return (
    <>
      <h2>{visible(e.title)}</h2>
      <div className="row">{e.open && <Badge tone="live">under way</Badge>}
        {verdict && <Badge tone={toneOf(verdict)}>{visible(verdict)}</Badge>}
        <span className="small muted">{visible(e.stage)} on <span className="mono">{visible(e.branch)}</span></span></div>
      {e.summary && <p className="small">{visible(e.summary)}</p>}
      <div className="row">
        {e.artifact && <a className="button small" href={questLink(quest, 'records', { artifact: e.artifact.id })}>Read it</a>}
        {e.seq > 0 && <a className="button small" href={questLink(quest, 'timeline', { seq: e.seq })}>Event {e.seq}</a>}
      </div>
      <p className="small muted num">{several(e.counts.actions, 'action')}, {several(e.counts.commands, 'command')}, {several(e.counts.files, 'file')}</p>
      {e.changed_files.length > 0 && <ul className="small mono">{e.changed_files.slice(0, 20).map((f) => <li key={f}>{visible(f)}</li>)}</ul>}
      {edges.length > 0 && (
        <ul className="edges">
          {edges.slice(0, 100).map((x) => {
            const out = x.from === e.selection_ref
            const other = out ? x.to : x.from
            return <li key={x.id}><span className="muted">{(out ? outward : inward)[x.kind]}</span>
              <button className="link" onClick={() => onGo(other)}>{visible(title.get(other) ?? other)}</button></li>
          })}
        </ul>
      )}
    </>
  )
}

function OfStage({ quest, stage: s }: { quest: string; stage: StageNode }) {
  const made = useResource<NodeTraces>(questPath(quest, `/node-traces${ask({ view: 'event', branch: s.branch, stage: s.stage })}`))
  return (
    <>
      <h2>{visible(s.stage)} on <span className="mono">{visible(s.branch)}</span></h2>
      {s.summary && <p className="small">{visible(s.summary)}</p>}
      <p className="small muted">Events <a className="num" href={questLink(quest, 'timeline', { seq: s.first })}>{s.first}</a> to <a className="num"
        href={questLink(quest, 'timeline', { seq: s.last })}>{s.last}</a></p>
      <Ready of={made} what="what came of it">{(t) => (
        <ul className="edges">
          {t.events.slice(0, 100).map((e) => <li key={e.selection_ref}><span className="muted">{e.kind}</span>{e.artifact
            ? <a href={questLink(quest, 'records', { artifact: e.artifact.id })}>{visible(e.title)}</a> : <span>{visible(e.title)}, under way</span>}</li>)}
          {t.events.length > 100 && <li className="muted">and {t.events.length - 100} more</li>}
        </ul>
      )}</Ready>
    </>
  )
}
