import { useState } from 'react'
import { questLink } from '../../route'
import { clip, visible } from '../../text/plain'
import { VirtualList } from '../../ui/virtual'
import { count } from '../../ui/show'
import type { Diff, Pair, Step } from './types'

const nothing = () => {}

type Kind = '' | Pair['mark']

/** Steps sets what both did side by side, each step beside the one that answers to it. */
export function Steps({ diff }: { diff: Diff }) {
  const [kind, setKind] = useState<Kind>('')
  const [selected, setSelected] = useState(-1)
  const { steps } = diff
  const pairs = (steps.pairs ?? []).filter((p) => kind === '' || p.mark === kind)
  const kinds: [Kind, string, number][] = [['', 'all', steps.pairs?.length ?? 0], ['same', 'same', steps.same], ['changed', 'changed',
    steps.changed], ['only a', `only ${diff.a.name}`, steps.only_a], ['only b', `only ${diff.b.name}`, steps.only_b]]
  const chosen = pairs[selected]
  return (
    <section className="stack tight">
      <h2>Steps</h2>
      <div className="row" role="group" aria-label="Which steps">
        {kinds.map(([value, label, n]) => <button key={value} className="button small" aria-pressed={kind === value}
          onClick={() => { setKind(value); setSelected(-1) }}>{label}<span className="muted num">{count(n)}</span></button>)}
      </div>
      {pairs.length === 0 ? <p className="muted">There are none of these.</p> : (
        <div className="card flush aligned">
          <VirtualList count={pairs.length} rowHeight={34} label="Aligned steps" selected={selected} onSelect={setSelected} onRange={nothing}
            row={(i) => <Row pair={pairs[i]} />} />
        </div>
      )}
      {chosen && <Chosen pair={chosen} a={diff.a.name} b={diff.b.name} />}
    </section>
  )
}

const signs: Record<Pair['mark'], string> = { same: '=', changed: '≠', 'only a': '←', 'only b': '→' }

function Row({ pair }: { pair?: Pair }) {
  if (!pair) return null
  return (
    <div className={`pair ${pair.mark.replace(' ', '-')}`}>
      <One step={pair.a} /><span className="sign" title={pair.mark}>{signs[pair.mark]}</span><One step={pair.b} />
    </div>
  )
}

const One = ({ step }: { step: Step | null }) => (step
  ? <span className="step clip"><span className="muted num">{step.seq}</span> <b>{step.actor}</b> <span className="mono">{step.tool ?? step.kind}
    </span> <span className="muted">{visible(clip(step.text.replace(/\s+/g, ' '), 120))}</span></span>
  : <span />)

function Chosen({ pair, a, b }: { pair: Pair; a: string; b: string }) {
  return (
    <div className="split even chosen-pair">
      {([[pair.a, a], [pair.b, b]] as const).map(([step, quest], i) => (
        <div className="card stack tight" key={i}>
          <h3>{quest}</h3>
          {step ? <><p className="small muted">{step.actor}, {step.tool ?? step.kind}, <a href={questLink(quest, 'timeline',
            { seq: step.seq })}>event {step.seq}</a></p><pre className="pre" tabIndex={0}>{visible(step.text)}</pre></>
            : <p className="muted">Nothing answers to it here.</p>}
        </div>
      ))}
      {(pair.differs?.length ?? 0) > 0 && <p className="small muted">They differ in {pair.differs?.join(', ')}.</p>}
    </div>
  )
}
