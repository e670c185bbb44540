import { useCallback, useEffect, useMemo, useRef } from 'react'
import { questPath } from '../../api/client'
import type { Evidence as Answer } from '../../api/types'
import { useQuestResource } from '../../live/context'
import { go, questLink } from '../../route'
import { Markdown, type Context } from '../../text/markdown'
import { visible, withoutTitle } from '../../text/plain'
import { MeasuredList } from '../../ui/measured'
import { Badge } from '../../ui/show'
import { Empty, Ready } from '../../ui/states'
import type { Scroller } from '../../ui/virtual'
import { Source } from './source'
import './evidence.css'

type Claim = Answer['claims'][number]

/** Evidence leads from the answer to its claims, and from each to what it rests on. */
export default function Evidence({ name, claim, source }: { name: string; claim: number; source: number }) {
  const evidence = useQuestResource<Answer>(questPath(name, '/evidence'))
  return <div className="page"><h2 className="hidden-label">Evidence</h2><Ready of={evidence} what="the evidence">
    {(e) => <Shown quest={name} evidence={e} claim={claim} source={source} />}</Ready></div>
}

function Shown({ quest, evidence, claim, source }: { quest: string; evidence: Answer; claim: number; source: number }) {
  const select = useCallback((values: { claim?: number; source?: number }) => go(questLink(quest, 'evidence', values), true), [quest])
  const one = evidence.claims.find((c) => c.claim === claim)
  // A source may be reached from the answer, without a claim: then the first that rests on it is meant.
  const meant = one ?? evidence.claims.find((c) => c.sources?.includes(source))
  const shown = source > 0 ? [source] : (one?.sources ?? [])
  const context = useMemo<Context>(() => ({
    word: { pattern: /\[\d{1,6}\]/g, show: (word,
      key) => <button key={key} className="link" onClick={() => select({ source: Number(word.slice(1, -1)) })}>{word}</button> },
  }), [select])
  if (evidence.claims.length === 0 && evidence.sources.length === 0) {
    return <Empty title="No claims yet">They come when the workers have searched and computed.</Empty>
  }
  return (
    <div className="split even">
      <div className="stack">
        {evidence.broken > 0 && <p className="note bad">{evidence.broken} {evidence.broken === 1 ? 'source does'
          : 'sources do'} not hold: what is cited is not what is there.</p>}
        <section className="stack tight"><h2>Claims</h2><Claims evidence={evidence} selected={meant?.claim ?? 0} quest={quest}
          onSelect={(n) => select({ claim: n })} /></section>
        {evidence.answer && <section className="card"><h2>Answer</h2><Markdown text={withoutTitle(evidence.answer, 'Answer')} context={context} /></section>}
      </div>
      <Sources evidence={evidence} claim={meant} shown={shown} quest={quest} />
    </div>
  )
}

function Sources({ evidence, claim, shown, quest }: { evidence: Answer; claim?: Claim; shown: number[]; quest: string }) {
  const place = useRef<HTMLDivElement>(null)
  const key = shown.join()
  useEffect(() => {
    // On a narrow page the sources stand below the claims.
    if (key && place.current && window.innerWidth < 860) place.current.scrollIntoView({ block: 'start' })
  }, [key])
  const list = evidence.sources.filter((s) => shown.includes(s.source))
  return (
    <div className="stack sources" ref={place} aria-live="polite">
      <h2>{shown.length === 0 ? 'Sources' : shown.length === 1 ? 'What it rests on' : `What it rests on: ${shown.length} sources`}</h2>
      {list.length === 0 && <p className="muted">{claim && shown.length === 0 ? 'This claim names no source.'
        : 'Choose a claim, or a number in the answer, to see the words it rests on. Their hashes are computed in this browser.'}</p>}
      {list.map((s) => <Source key={s.source} source={s} claim={claim?.sources?.includes(s.source) ? claim.text : ''} quest={quest} />)}
    </div>
  )
}

function Claims({ evidence, selected, quest, onSelect }: { evidence: Answer; selected: number; quest: string; onSelect: (claim: number) => void }) {
  const list = useRef<Scroller>(null)
  const chosen = evidence.claims.findIndex((c) => c.claim === selected)
  const shown = useRef(selected)
  // A click leaves the list where it is; a number in the answer or in another claim leads to its claim.
  useEffect(() => {
    if (chosen >= 0 && shown.current !== selected) list.current?.show(chosen)
    shown.current = selected
  }, [selected, chosen])
  const pick = (claim: number) => { shown.current = claim; onSelect(claim) }
  return (
    <MeasuredList ref={list} className="claims" count={evidence.claims.length} guess={96} label="Claims"
      row={(n) => { const claim = evidence.claims[n]; return claim && <One claim={claim} evidence={evidence} chosen={n === chosen} quest={quest}
        onPick={pick} onGo={onSelect} /> }} />
  )
}

function One({ claim: c, evidence, chosen, quest, onPick, onGo }: { claim: Claim; evidence: Answer; chosen: boolean; quest: string;
  onPick: (claim: number) => void; onGo: (claim: number) => void }) {
  return (
    <div className={chosen ? 'card claim chosen' : 'card claim'}>
      <button className="claim-text" aria-pressed={chosen} onClick={() => onPick(c.claim)}>{visible(c.text)}</button>
      <div className="row small">
        <ClaimStatus status={c.status} />
        <span className="muted">
          claim {c.claim} by {c.by}, confidence {(c.confidence_thousandths / 1000).toFixed(2)},
          {' '}{c.sources?.length ?? 0} {c.sources?.length === 1 ? 'source' : 'sources'}
        </span>
        <a href={questLink(quest, 'timeline', { seq: c.seq })}>event {c.seq}</a>
      </div>
      {evidence.attacks.filter((a) => a.to === c.claim)
        .map((a) => <p key={a.from} className="note bad">Attacked by <button className="link" onClick={() => onGo(a.from)}>claim {a.from}
        </button>: {visible(a.reason)}</p>)}
      {evidence.challenges.filter((x) => x.claim === c.claim).map((x) => (
        <p key={x.challenge} className={x.open ? 'note bad' : 'note'}>Challenged by {x.by} ({x.rule}): {visible(x.reason)} {x.open
          ? 'Nobody has answered.' : x.justified ? <>Answered: {visible(x.justified)}</> : 'Settled.'}</p>
      ))}
    </div>
  )
}

function ClaimStatus({ status }: { status: string }) {
  const tone = /^stands/.test(status) ? 'good' : /defeated|withdrawn|broken/.test(status) ? 'bad' : 'warn'
  return <Badge tone={tone}>{status}</Badge>
}
