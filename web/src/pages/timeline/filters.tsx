import { useEffect, useState, type FormEvent } from 'react'
import type { Count, Timeline } from '../../api/types'
import { count, several } from '../../ui/show'
import type { Filter } from './rows'

type Props = {
  index?: Timeline
  filter: Filter
  head: number
  onChange: (filter: Filter) => void
  onJump: (seq: number) => void
  onEnd: () => void
  /** each says that every event is a row of its own; onEach is there if that can be picked. */
  each: boolean
  onEach?: (each: boolean) => void
}

/** Filters narrow the ledger down and lead to a place in it. */
export function Filters({ index, filter, head, onChange, onJump, onEnd, each, onEach }: Props) {
  const [text, setText] = useState(filter.text)
  const [seq, setSeq] = useState('')
  useEffect(() => setText(filter.text), [filter.text])
  const search = (event: FormEvent) => { event.preventDefault(); onChange({ ...filter, text }) }
  const jump = (event: FormEvent) => {
    event.preventDefault()
    const n = Math.min(head, Math.max(1, Number(seq)))
    if (Number.isInteger(n)) onJump(n)
  }
  const [open, setOpen] = useState(false)
  const held = Object.values(filter).filter(Boolean).length
  const any = filter.type || filter.actor || filter.tool || filter.text
  return (
    <div className={open ? 'filters open' : 'filters'}>
      <div className="row" role="search">
        <button className="button small fold" aria-expanded={open} onClick={() => setOpen(!open)}>{held > 0 ? `Filter (${held})` : 'Filter'}</button>
        <Pick label="Type" all="all types" value={filter.type} from={withFamilies(index?.types ?? [])} onPick={(type) => onChange({ ...filter, type })} />
        <Pick label="Actor" all="all actors" value={filter.actor} from={index?.actors ?? []} onPick={(actor) => onChange({ ...filter, actor })} />
        {(index?.tools.length ?? 0) > 0 && <Pick label="Tool" all="all tools" value={filter.tool} from={index?.tools ?? []}
          onPick={(tool) => onChange({ ...filter, tool })} />}
        <form onSubmit={search}><input type="search" aria-label="Text in the event" placeholder="Text, then Enter" value={text}
          onChange={(e) => setText(e.target.value)} /></form>
        {any && <button className="button small quiet stays" onClick={() => onChange({ type: '', actor: '', tool: '', text: '' })}>Clear</button>}
        {onEach && <label className="choice"><input type="checkbox" checked={each} onChange={(e) => onEach(e.target.checked)} />Every event</label>}
        <form onSubmit={jump} className="jump"><input inputMode="numeric" aria-label="Go to event" placeholder={`Go to 1–${head}`} value={seq}
          onChange={(e) => setSeq(e.target.value)} /></form>
        <button className="button small stays" onClick={onEnd}>To the end</button>
      </div>
      {index && any && <Histogram index={index} onJump={onJump} />}
    </div>
  )
}

// model. stands for model.call and model.result.
function withFamilies(types: Count[]): Count[] {
  const families = new Map<string, Count & { members: number }>()
  for (const { name, count: n } of types) {
    const family = `${name.split('.')[0] ?? ''}.`
    const held = families.get(family)
    families.set(family, { name: family, count: (held?.count ?? 0) + n, members: (held?.members ?? 0) + 1 })
  }
  const several = [...families.values()].filter((f) => f.members > 1)
  return [...several, ...types].sort((a, b) => a.name.localeCompare(b.name))
}

function Pick({ label, all, value, from, onPick }: { label: string; all: string; value: string; from: Count[]; onPick: (v: string) => void }) {
  return (
    <select aria-label={label} value={value} onChange={(e) => onPick(e.target.value)}>
      <option value="">{all}</option>
      {from.filter((c) => c.name).map((c) => <option key={c.name} value={c.name}>{c.name.endsWith('.') ? `${c.name}*` : c.name} ({count(c.count)})</option>)}
      {value && !from.some((c) => c.name === value) && <option value={value}>{value}</option>}
    </select>
  )
}

/** Histogram shows where the matching events are; a bar leads there. */
function Histogram({ index, onJump }: { index: Timeline; onJump: (seq: number) => void }) {
  const most = Math.max(1, ...index.buckets.map((b) => b.matching))
  const n = Math.max(1, index.buckets.length)
  return (
    <svg className="histogram" viewBox={`0 0 ${n} 24`} preserveAspectRatio="none" role="img"
      aria-label={`${several(index.matching, 'matching event')} over the ledger`}>
      {index.buckets.map((b, i) => (
        <g key={b.first} onClick={() => onJump(b.first)}>
          <title>{`events ${b.first} to ${b.last}: ${b.matching}`}</title>
          <rect className="back" x={i} y={0} width={1} height={24} />
          <rect x={i} y={24 - (b.matching / most) * 23} width={0.8} height={(b.matching / most) * 23} />
        </g>
      ))}
    </svg>
  )
}
