import { useState } from 'react'
import type { Conclusion, Detail } from '../../api/types'
import { questLink } from '../../route'
import { clip, firstLine, flat, visible } from '../../text/plain'
import { Badge, clock, several } from '../../ui/show'
import { Reproduced } from '../papers/badges'
import './hero.css'

const tones = { high: 'good', medium: 'warn', low: 'bad', unchecked: '' } as const

/** Hero is the answer before all else: the value, who agrees, how it came about, and what carries it. */
export function Hero({ quest }: { quest: Detail }) {
  const { verdict: v, conclusion: c } = quest
  if (!v && !c) return null
  const over = quest.status === 'finished' || quest.status === 'completed_with_warnings'
  return (
    <section className="card hero" aria-labelledby="hero">
      <div className="row between">
        <h2 id="hero">{v && over && !v.candidate ? 'The answer in a line' : 'The answer so far, in a line'}</h2>
        {v && <div className="row">
          {v.candidate && <Badge tone="warn">candidate</Badge>}
          <Badge tone={tones[v.sure]}>{v.sure === 'unchecked' ? 'unchecked' : `sure: ${v.sure}`}</Badge>
        </div>}
      </div>
      <p className="hero-question">{visible(clip(firstLine(quest.problem), 200))}</p>
      {v && <p className={v.value.length > 60 ? 'hero-value long' : 'hero-value'}>{visible(v.value)}</p>}
      <p className="hero-said">{visible(c?.said ?? v?.agree ?? '')}</p>
      <p className="small muted">{[c?.printed, c?.counts === 'papers' ? undefined : v?.why].filter((x): x is string => !!x).map((x, i) => (
        <span key={x}>{i > 0 && ' · '}{visible(x)}</span>))}</p>
      {c && <Changes quest={quest.name} conclusion={c} />}
      {c && c.claims.length > 0 && <Claims quest={quest.name} claims={c.claims} />}
      {c && c.checks.length > 0 && <Checks quest={quest.name} checks={c.checks} />}
      {c && c.carriers.length > 0 && <Carriers quest={quest.name} conclusion={c} />}
    </section>
  )
}

const fewChanges = 5

// What it was before, each with when it came.
function Changes({ quest, conclusion: c }: { quest: string; conclusion: Conclusion }) {
  const changes = c.history.filter((t, i) => t.value !== '' && t.value !== c.history[i - 1]?.value)
  if (changes.length < 2) return null
  const shown = changes.slice(-fewChanges)
  return (
    <div className="hero-changes small">
      <span className="muted">{changes.length > fewChanges ? `It changed ${changes.length - 1} times, of late: ` : 'How it changed: '}</span>
      <ol>{shown.map((t) => <li key={t.seq}><a href={questLink(quest, 'timeline', { seq: t.seq })}
        title={flat(`${t.value} at ${clock(t.time)}: ${t.same} of ${several(t.of, c.counts === 'claims' ? 'claim' : 'paper')}`)}>
        {visible(clip(t.value, 40))}</a>
        <span className="muted num"> {clock(t.time)}</span></li>)}</ol>
    </div>
  )
}

const marks = { stands: '✓', undecided: '?', defeated: '✕', retracted: '–', made: '○' } as const
const states = { stands: 'good', undecided: 'warn', defeated: 'bad', retracted: '', made: '' } as const

// The claims of a contract net are marks: a shape and a number. One is open at a time.
function Claims({ quest, claims }: { quest: string; claims: Conclusion['claims'] }) {
  const [open, setOpen] = useState<number>()
  const shown = claims.find((k) => k.claim === open)
  return (
    <div className="stack tight">
      <div className="hero-claims" role="group" aria-label="Claims">
        {claims.map((k) => <button key={k.claim} className={`claim-mark ${states[k.status]}`} aria-pressed={k.claim === open}
          aria-label={`Claim ${k.claim}, ${k.status}`} title={flat(clip(k.text, 200))} onClick={() => setOpen(k.claim === open ? undefined : k.claim)}>
          <span aria-hidden="true">{marks[k.status]}</span> <span className="num">{k.claim}</span></button>)}
      </div>
      {shown && (
        <div className="claim-open">
          <p>{visible(shown.text)}</p>
          <p className="small muted">{shown.by} · {shown.status} · {several(shown.sources, 'source')}
            {shown.doubts > 0 && ` · ${several(shown.doubts, 'doubt')}${shown.open_doubts > 0 ? `, ${shown.open_doubts} open` : ', all answered'}`}
            {' · '}<a href={questLink(quest, 'evidence', { claim: shown.claim })}>its evidence</a></p>
        </div>
      )}
    </div>
  )
}

const holds = { yes: '✓ holds it', no: '– does not hold it', failed: '✕ failed' } as const
const fewChecks = 4

function Checks({ quest, checks }: { quest: string; checks: Conclusion['checks'] }) {
  const [all, setAll] = useState(false)
  // What holds the answer is what a reader wants to see first.
  const sorted = [...checks].sort((a, b) => Number(b.holds === 'yes') - Number(a.holds === 'yes'))
  return (
    <div className="stack tight">
      <h3>What its tools gave</h3>
      <ul className="hero-checks small">{(all ? sorted : sorted.slice(0, fewChecks)).map((k) => (
        <li key={k.seq}>
          <span className={k.holds === 'yes' ? 'tone-good' : k.holds === 'failed' ? 'tone-bad' : 'muted'}>{k.holds ? holds[k.holds] : '–'}</span>
          <a className="mono clip" href={questLink(quest, 'timeline', { seq: k.seq })}><b>{k.tool}</b> {visible(clip(k.output || 'no output', 120))}</a>
        </li>))}</ul>
      {checks.length > fewChecks && <button className="link small start" onClick={() => setAll(!all)}>
        {all ? 'Show fewer' : `Show all ${checks.length}`}</button>}
    </div>
  )
}

function Carriers({ quest, conclusion: { carriers, more_carriers: more = 0 } }: { quest: string; conclusion: Conclusion }) {
  return (
    <div className="stack tight">
      <h3>{carriers.length + more === 1 ? 'The paper that carries it' : `The ${carriers.length + more} papers that carry it`}</h3>
      <ul className="carriers">{carriers.map((p) => (
        <li key={p.ref}>
          <a href={questLink(quest, `papers/${p.ref}`)}>{visible(clip(p.title, 110))}</a>
          <span className="small muted">{[p.author, p.votes > 0 && several(p.votes, 'vote'),
            (p.accepts > 0 || p.rejects > 0) && `${p.accepts} for, ${p.rejects} against`].filter(Boolean).join(' · ')}</span>
          {p.reproduction && <Reproduced status={p.reproduction} missing={p.missing} />}
        </li>))}</ul>
      {more > 0 && <a className="small start" href={questLink(quest, 'papers', { status: 'PUBLISHED' })}>and {several(more, 'more paper')}</a>}
    </div>
  )
}
