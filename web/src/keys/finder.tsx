import { useMemo, useState, type KeyboardEvent } from 'react'
import { questPath } from '../api/client'
import { useResource } from '../api/resource'
import type { Agent, Detail, Papers, Quests } from '../api/types'
import { go, questLink } from '../route'
import { societyOf } from '../society'
import { clip, visible } from '../text/plain'
import { Dialog } from '../ui/dialog'
import { jumps, numbered, ranked, type Found } from './keys'
import './keys.css'

const most = 12

/** Finder leads to any quest, and within one to its pages, papers, agents and events. */
export default function Finder({ quest, onClose }: { quest: string | undefined; onClose: () => void }) {
  const [find, setFind] = useState('')
  const [at, setAt] = useState(0)
  const quests = useResource<Quests>('/quests')
  const detail = useResource<Detail>(quest ? questPath(quest) : null)
  const agents = useResource<{ agents: Agent[] }>(quest ? questPath(quest, '/agents') : null)
  const papers = useResource<Papers>(quest && detail.data?.papers ? questPath(quest, '/papers?limit=500') : null)
  const all = useMemo((): Found[] => [
    ...(quest ? jumps.filter((j) => j.page !== undefined && !j.tab)
      .map((j) => ({ kind: 'page', name: j.name.replace('its ', ''), note: quest, to: questLink(quest, j.page) })) : []),
    ...(quest && detail.data ? societyOf(detail.data.society).tabs
      .map((t) => ({ kind: 'page', name: t.label, note: quest, to: questLink(quest, t.path) })) : []),
    ...(quests.data?.quests ?? []).map((q) => ({ kind: 'quest', name: q.name, note: q.question, to: questLink(q.name) })),
    ...(quest ? (agents.data?.agents ?? []).map((a) => ({ kind: 'agent', name: a.name, note: a.model, to: questLink(quest, `agents/${a.name}`) })) : []),
    ...(quest ? (papers.data?.papers ?? []).map((p) => ({ kind: 'paper', name: p.title,
      note: `${p.author} ${p.ref}`, to: questLink(quest, `papers/${p.ref}`) })) : []),
  ], [quest, quests.data, detail.data, agents.data, papers.data])
  const event = numbered(find, quest, detail.data?.events ?? 0)
  const found = [...(event ? [event] : []), ...ranked(all, find, most)].slice(0, most)
  const open = (to: Found | undefined) => { if (to) { onClose(); go(to.to) } }
  const key = (e: KeyboardEvent) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[e.key]
    if (by) { e.preventDefault(); setAt(Math.max(0, Math.min(found.length - 1, at + by))) }
    if (e.key === 'Enter') { e.preventDefault(); open(found[at]) }
  }
  return (
    <Dialog title={quest ? `Find in ${quest}, or another quest` : 'Find a quest'} onClose={onClose}>
      <input type="search" role="combobox" aria-expanded="true" aria-controls="found" aria-label="What to find"
        aria-activedescendant={found[at] && `found-${at}`}
        placeholder={quest ? 'a quest, paper, agent, page, or the number of an event' : 'a quest'} value={find} autoFocus
        onChange={(e) => { setFind(e.target.value); setAt(0) }} onKeyDown={key} />
      <ul id="found" className="found" role="listbox" aria-label="Found">{found.map((f, i) => (
        <li key={`${f.kind} ${f.to}`} id={`found-${i}`} role="option" aria-selected={i === at} onClick={() => open(f)} onPointerMove={() => setAt(i)}>
          <span className="badge">{f.kind}</span><b>{visible(clip(f.name, 80))}</b>
          {f.note && <span className="muted small clip">{visible(clip(f.note, 80))}</span>}
        </li>))}</ul>
      {found.length === 0 && <p className="muted small">Nothing is called so.</p>}
    </Dialog>
  )
}
