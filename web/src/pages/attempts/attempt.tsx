import { blobLink } from '../../api/client'
import type { Attempt, AttemptFinding, AttemptTier, AttemptTry, Sight } from '../../api/types'
import { questLink } from '../../route'
import { flat, visible } from '../../text/plain'
import { Badge, duration, several } from '../../ui/show'
import { Told } from '../tasks/told'
import { pictures, share, tierName, tone } from './told'

/** One is an attempt with what each tier said, what was predicted and what was seen. */
export function One({ quest, attempt: a }: { quest: string; attempt: Attempt }) {
  const shown = pictures(a)
  return (
    <article className="stack loose" aria-labelledby="attempt-title">
      <div className="row"><h3 id="attempt-title">Attempt {a.attempt}</h3><Badge tone={tone(a.state)}>{a.state}</Badge>
        <a className="small" href={questLink(quest, 'timeline', { seq: a.seq })}>event {a.seq}</a></div>
      <p>{visible(a.intent)}</p>
      <p className="small muted">Nothing of it runs on this page. To use it: <code>lyceum preview {quest} {a.attempt}</code></p>
      {shown.length > 0 && <div className="attempt-pictures">{shown.map((p) => (
        <figure key={p.hash}><a href={blobLink(p.hash)}>
          <img src={blobLink(p.hash)} alt={flat(`attempt ${a.attempt}, ${p.said}`)} loading="lazy" decoding="async" /></a>
          <figcaption className="small muted">{visible(p.said)}</figcaption></figure>
      ))}</div>}
      {a.tiers.map((t) => <Tier key={t.tier} quest={quest} tier={t} />)}
      {a.marks.map((m) => (
        <section key={m.seq} className="stack tight"><h4>{visible(m.judge)}</h4>
          <ul className="small">{m.marks.map((x, i) => <li key={i}>{visible(x.criterion)}: <b className="num">{x.mark}</b>
            {' '}“{visible(x.quotation)}”</li>)}</ul></section>
      ))}
      {a.reward && <p className="small num">{typeof a.reward.sum === 'number'
        ? `Reward ${share(a.reward.sum)}: stories ${share(a.reward.stories)}, accessibility ${share(a.reward.accessibility)}, `
          + `conditions ${share(a.reward.conditions)}`
        : 'No reward: it cannot be told.'}{typeof a.reward.held_out === 'number' && ` · held-out ${share(a.reward.held_out)}`}</p>}
      {a.tries.map((t) => <Tried key={t.seq} quest={quest} tried={t} />)}
    </article>
  )
}

function Tier({ quest, tier: t }: { quest: string; tier: AttemptTier }) {
  return (
    <section className="stack tight tier" aria-label={tierName(t.tier)}>
      <div className="row"><h4>{tierName(t.tier)}</h4><Badge tone={tone(t.verdict)}>{visible(t.verdict ?? 'under way')}</Badge>
        {t.duration_us !== undefined && <span className="small muted">{duration(t.duration_us / 1e6)}</span>}
        {(t.seq ?? t.call) && <a className="small" href={questLink(quest, 'timeline', { seq: t.seq ?? t.call ?? 0 })}>event {t.seq ?? t.call}</a>}</div>
      {t.reason && <p className="small">{visible(t.reason)}</p>}
      <Findings list={t.findings} />
      {t.more !== undefined && <p className="small muted">and {t.more} more</p>}
      {t.criteria.length > 0 && <p className="small num">{t.criteria.map((c) => `${visible(c.criterion)} ${c.mark}`).join(', ')}</p>}
      {t.stories.map((s, i) => (
        <div key={i} className="stack tight"><div className="row small"><b>{visible(s.name)}</b><Badge tone={tone(s.verdict)}>{visible(s.verdict)}</Badge>
          <span className="muted num">{s.met} of {several(s.of, 'condition')}</span></div>
          <Findings list={s.findings} />{s.seen && <Seen title="What was seen" sight={s.seen} />}</div>
      ))}
    </section>
  )
}

function Findings({ list }: { list: AttemptFinding[] }) {
  if (list.length === 0) return null
  return (
    <ul className="small findings">{list.map((f, i) => (
      <li key={i}><Badge tone={f.kind === 'failed' ? 'bad' : 'warn'}>{visible(f.kind)}</Badge> {visible(f.check)}
        {f.where && <> at <code>{visible(f.where)}</code></>}
        {(f.expected || f.observed) && <>: expected <q>{visible(f.expected ?? '')}</q>, saw <q>{visible(f.observed ?? '')}</q></>}</li>
    ))}</ul>
  )
}

function Tried({ quest, tried: t }: { quest: string; tried: AttemptTry }) {
  return (
    <section className="stack tight tier" aria-label={`Try ${t.seq}`}>
      <div className="row"><h4>Predicted and seen</h4>
        <Badge tone={t.end === undefined ? 'live' : t.end === 'done' ? 'good' : 'bad'}>{visible(t.end ?? 'under way')}</Badge>
        {t.surprise !== undefined && <span className="small num">surprise {(t.surprise / 1e6).toFixed(3)}</span>}
        <a className="small" href={questLink(quest, 'timeline', { seq: t.seq })}>event {t.seq}</a></div>
      <ol className="small">{t.steps.map((s, i) => <li key={i}>{visible(s)}</li>)}</ol>
      <div className="table-box"><table className="small num">
        <thead><tr><th scope="col">Predicted</th><th scope="col">How probable</th><th scope="col">Seen</th><th scope="col">Surprise</th></tr></thead>
        <tbody>{t.expect.map((x, i) => (
          <tr key={i}><th scope="row">{visible(x.condition)}{x.loop && <span className="muted"> (loop {visible(x.loop)})</span>}</th>
            <td>{share(x.probability)}</td><td>{x.held === undefined ? '–' : x.held ? 'held' : 'did not hold'}</td>
            <td>{x.surprise === undefined ? '–' : (x.surprise / 1e6).toFixed(3)}</td></tr>
        ))}</tbody></table></div>
      {t.error && <p className="note bad">{visible(t.error)}</p>}
      {t.unforeseen > 0 && <div className="small"><p>{t.unforeseen} unforeseen:</p><ul>{t.changes.map((c, i) => <li key={i}>{visible(c)}</li>)}</ul></div>}
      {t.before && <Seen title="Before" sight={t.before} />}
      {t.after && <Seen title="After" sight={t.after} />}
    </section>
  )
}

/** Seen is what was seen of it, as texts. */
function Seen({ title, sight: s }: { title: string; sight: Sight }) {
  const some = (t: Sight['text']) => t.text !== undefined || t.ref !== undefined
  return (
    <details className="raw"><summary>{title}{s.title && <> <span className="muted">{visible(s.title)}</span></>}</summary>
      {some(s.text) && <Told text={s.text} />}
      {some(s.accessibility) && <Told text={s.accessibility} code="text" />}
      {some(s.output) && <><p className="small muted">output, exit {s.exit}</p><Told text={s.output} code="text" /></>}
      {some(s.errors) && <><p className="small muted">errors</p><Told text={s.errors} code="text" /></>}
      {s.lines.length > 0 && <ul className="small mono">{s.lines.map((l, i) => <li key={i}>{visible(l)}</li>)}</ul>}
      {s.files.length > 0 && <p className="small mono">{visible(s.files.join(', '))}</p>}
    </details>
  )
}
