import { useEffect } from 'react'
import { query } from '../../api/client'
import { useResource } from '../../api/resource'
import type { Quests } from '../../api/types'
import { go, link } from '../../route'
import { Empty, Ready } from '../../ui/states'
import { Result } from './result'
import type { Diff } from './types'
import './compare.css'

/** Compare sets two quests side by side. */
export default function Compare({ a, b }: { a: string; b: string }) {
  useEffect(() => { document.title = a && b ? `${a} and ${b} · Lyceum` : 'Compare · Lyceum' }, [a, b])
  const quests = useResource<Quests>('/quests')
  const both = a !== '' && b !== ''
  const diff = useResource<Diff>(both ? `/diff${query({ a, b })}` : null)
  const set = (change: { a?: string; b?: string }) => go(link(['compare'], { a, b, ...change }), true)
  const names = quests.data?.quests.map((q) => q.name) ?? []
  return (
    <div className="page">
      <div className="head"><h1>Compare</h1></div>
      <div className="row pickers">
        <Pick label="First quest" tone="one" value={a} names={names} onPick={(v) => set({ a: v })} />
        <button className="button small" aria-label="Exchange the two" onClick={() => set({ a: b, b: a })} disabled={!both}>⇄</button>
        <Pick label="Second quest" tone="two" value={b} names={names} onPick={(v) => set({ b: v })} />
      </div>
      {!both ? <Empty title="Choose two quests">
        A fork and its origin, the same question with another model, or any other two: what they asked, did, found and used is shown side by side.</Empty>
        : <Ready of={diff} what="both quests">{(d) => <Result diff={d} />}</Ready>}
    </div>
  )
}

const Pick = ({ label, tone, value, names, onPick }: { label: string; tone: string; value: string; names: string[]; onPick: (v: string) => void }) => (
  <span className={`picker ${tone}`}>
    <select aria-label={label} value={value} onChange={(e) => onPick(e.target.value)}>
      <option value="">choose a quest</option>
      {names.map((n) => <option key={n}>{n}</option>)}
      {value && !names.includes(value) && <option>{value}</option>}
    </select>
  </span>
)
