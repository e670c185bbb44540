import { blobLink } from '../../api/client'
import type { TaskDetail, TaskRun, TaskScope } from '../../api/types'
import { questLink } from '../../route'
import { fileName, flat, visible } from '../../text/plain'
import { Badge, bytes, clock, several } from '../../ui/show'
import { Changes } from './changes'
import { Raw, Told } from './told'

const Event = ({ quest, seq }: { quest: string; seq: number }) => <a className="small" href={questLink(quest, 'timeline', { seq })}>event {seq}</a>

/** Story is what a task is, and what became of it step by step. */
export function Story({ quest, task: t }: { quest: string; task: TaskDetail }) {
  const { plan } = t
  return (
    <div className="stack">
      <dl className="facts">
        {plan.after && <><dt>after</dt><dd className="mono">{visible(plan.after.join(', '))}</dd></>}
        <Scope scope={plan.scope} />
        {plan.read_only && <><dt>files</dt><dd>nothing may change</dd></>}
        {plan.acceptance && <><dt>acceptance</dt><dd>{plan.acceptance.map((c, i) => <div key={i}><code>{visible(c)}</code></div>)}</dd></>}
        {plan.criteria && <><dt>in words</dt><dd>{plan.criteria.map((c, i) => <div key={i}>{visible(c)}</div>)}</dd></>}
      </dl>
      {t.runs.length === 0 ? <p className="muted">It has not been handed over yet.</p> : <ol
        className="steps">{t.runs.map((r) => <Steps key={r.run} quest={quest} run={r} />)}</ol>}
      {t.asked.length > 0 && <section className="stack tight"><h4>Questions to the architect</h4>
        {t.asked.map((q) => <div key={q.seq} className="note stack tight">
          <div className="row between small"><strong>{visible(q.asker)} asks</strong><Event quest={quest} seq={q.seq} /></div>
          <Told text={q.question} />
          {q.answered ? <><strong className="small">The architect answers</strong><Told text={q.answer} /></> : <Badge tone="asks">no answer yet</Badge>}
        </div>)}</section>}
      {t.turned.map((x) => <p key={x.seq} className="note warn">{x.how === 'swap' ? <>Another executor goes on: {visible(x.executor ?? '')}.</>
        : 'A smaller scope is wanted.'}
        {' '}{visible(x.reason)} <Event quest={quest} seq={x.seq} /></p>)}
      {t.orders.map((o) => <p key={o.seq} className="note">{visible(o.by)}: {o.action === 'cancel' ? 'cancel it'
        : visible(o.text ?? '')} <Event quest={quest} seq={o.seq} /></p>)}
    </div>
  )
}

function Scope({ scope }: { scope: TaskScope }) {
  return (
    <>
      <dt>may change</dt><dd className="mono">{visible(scope.include.join(', '))}</dd>
      {scope.exclude && <><dt>but not</dt><dd className="mono">{visible(scope.exclude.join(', '))}</dd></>}
      {scope.no_touch && <><dt>never</dt><dd className="mono">{visible(scope.no_touch.join(', '))}</dd></>}
    </>
  )
}

// What a run came to, in the order in which it is checked.
function Steps({ quest, run: r }: { quest: string; run: TaskRun }) {
  return (
    <li className="stack tight">
      <div className="row small"><strong>{r.repair ? `Repair, run ${r.run}` : `Run ${r.run}`}</strong>
        <span className="muted">{visible(r.executor)}, {clock(r.time)}</span><Event quest={quest} seq={r.seq} />
        {!r.ended && <Badge tone="live">at work</Badge>}</div>
      <ul className="small stack tight">
        {r.snapshot && <li>It was told of {several(r.snapshot.events, 'event')} before it.</li>}
        {r.found && <li>{several(r.found.files, 'file')} changed{r.found.outside.length > 0 && <>, <span
          className="tone-bad">{several(r.found.outside.length + (r.found.more ?? 0), 'change')} out of scope</span></>}.</li>}
        {r.manifest && <li>Its manifest names {several(r.manifest.items.length, 'artifact')}.</li>}
        {r.errors.map((e) => <li key={e.seq}><Badge tone="bad">{visible(e.category)}</Badge> <Told text={e.text} /></li>)}
        {r.after?.seq && <li>Acceptance: {r.after.commands.every((c) => c.exit === 0 && !c.end) ? <span className="tone-good">all commands succeeded</span>
          : <span className="tone-bad">a command failed</span>}.</li>}
        {r.judged && <li><Badge tone={r.judged.verdict === 'accept' ? 'good' : 'warn'}>{visible(r.judged.verdict)}</Badge> <Told text={r.judged.reasons} />
          {r.judged.shown.map((s, i) => <div key={i} className="muted">shown by {visible(s)}</div>)}</li>}
      </ul>
    </li>
  )
}

/** Package is what was handed over. */
export function Package({ quest, run: r }: { quest: string; run: TaskRun }) {
  return (
    <div className="stack">
      <section className="stack tight"><div className="row between"><h4>{r.repair ? 'What is to be repaired' : 'The package'}</h4><Event
        quest={quest} seq={r.seq} /></div>
        <Told text={r.package} code={r.repair ? undefined : 'yaml'} /></section>
      {r.snapshot && <section className="stack tight"><div className="row between"><h4>What it is told of before</h4><Event
        quest={quest} seq={r.snapshot.seq} /></div>
        <p className="small muted">{several(r.snapshot.events, 'event')}, sha256 <span className="mono">{r.snapshot.hash.slice(0, 16)}…</span></p>
        <Told text={r.snapshot.text} code="text" /></section>}
    </div>
  )
}

/** Found is what differs in the files after a run. */
export function Found({ run: r, task }: { run: TaskRun; task: string }) {
  const f = r.found
  if (!f) return <p className="muted">{r.ended ? 'Nothing of it was inspected.'
    : 'It is still at work. What it changed is looked at when it says that it is done.'}</p>
  return (
    <div className="stack">
      <Told text={f.error} />
      {f.outside.length > 0 && <div className="note bad stack tight"><strong>Out of its scope: nothing is taken over.</strong>
        <ul className="small">{f.outside.map((o) => <li key={o.path}><span className="mono">{visible(o.path)}</span>: {visible(o.reason)}</li>)}</ul>
        {f.more ? <span className="small">and {f.more} more</span> : null}</div>}
      {f.patch ? <Changes patch={f.patch} name={fileName(`${task}-${r.run}.patch`)} />
        : <ul className="small mono">{f.changes.map((c) => <li key={c.path}>{c.kind} {visible(c.path)}</li>)}</ul>}
      {f.ignored.length > 0 && <details><summary>Left out, as .gitignore says: {f.ignored.length}</summary>
        <ul className="small mono">{f.ignored.map((o) => <li key={o.path}>{visible(o.path)}: {visible(o.reason)}</li>)}</ul></details>}
    </div>
  )
}

const picture = /\.(?:png|jpe?g|gif|webp)$/i

/** Artifacts are what the executor says it made, beside what was found. */
export function Artifacts({ run: r }: { run: TaskRun }) {
  const findings = r.found?.findings ?? []
  const m = r.manifest
  return (
    <div className="stack">
      {findings.length > 0 && <div className="note bad"><strong>What is wrong with the manifest</strong><ul
        className="small">{findings.map((f, i) => <li key={i}>{visible(f)}</li>)}</ul></div>}
      {!m && <p className="muted">There is no manifest that stands.</p>}
      {m?.items.map((x, i) => (
        <section key={i} className="card stack tight" aria-label={flat(x.ref)}>
          <div className="row between"><h4 className="mono">{visible(x.ref)}</h4><Badge>{visible(x.type)}</Badge></div>
          <p className="small muted">by {visible(x.generated_by)}{x.file && <> · {bytes(x.file.size)} · <a
            href={blobLink(x.file.hash, fileName(x.ref.split('/').pop() ?? ''))}
            download={fileName(x.ref.split('/').pop() ?? 'artifact')}>download</a></>}</p>
          {x.file && (x.checksum.endsWith(x.file.hash) ? <span className="hash good">✓ sha256 {x.file.hash.slice(0, 16)}… is what it says</span>
            : <span className="hash bad">found: sha256 {x.file.hash.slice(0, 16)}…, it says {visible(x.checksum.slice(0, 80))}</span>)}
          {x.file && picture.test(x.ref) && <img className="preview" src={blobLink(x.file.hash)} alt={flat(`artifact ${x.ref}`)} loading="lazy" />}
          {x.preview?.text && <pre className="pre small" tabIndex={0}>{visible(x.preview.text)}</pre>}
        </section>
      ))}
    </div>
  )
}

/** Errors are what went wrong in all runs, with the logs as they are. */
export function Errors({ quest, task }: { quest: string; task: TaskDetail }) {
  const all = task.runs.flatMap((r) => r.errors.map((e) => ({ run: r.run, e })))
  if (all.length === 0) return <p className="muted">Nothing went wrong.</p>
  return (
    <ol className="stack">
      {all.map(({ run, e }) => (
        <li key={e.seq} className="card stack tight">
          <div className="row between"><span className="row"><Badge tone="bad">{visible(e.category)}</Badge><span className="small muted">run {run}
            {e.exit !== undefined && `, exit ${e.exit}`}{e.same !== undefined && e.same > 1
              && `, the same ${e.same} times`}</span></span><Event quest={quest} seq={e.seq} /></div>
          <Told text={e.text} />
          {e.line && <pre className="pre small failed" tabIndex={0}>{visible(e.line)}</pre>}
          {e.logs && <Raw log={e.logs} name={`run-${run}.log`}>Raw log</Raw>}
        </li>
      ))}
    </ol>
  )
}
