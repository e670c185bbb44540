import { useState } from 'react'
import type { Ref, TaskList } from '../../api/types'
import { questLink } from '../../route'
import { visible } from '../../text/plain'
import { Badge, several } from '../../ui/show'
import { Changes } from './changes'
import { TestTable } from './tests'
import { Told } from './told'

type Merge = TaskList['merges'][number]

/** Merges is what came of putting tasks together, and what the acceptance commands say of it. */
export function Merges({ quest, list }: { quest: string; list: TaskList }) {
  if (list.merges.length === 0 && !list.whole) return null
  return (
    <section className="card stack" aria-labelledby="merged">
      <h3 id="merged">Put together</h3>
      {list.merges.map((m) => <One key={m.call} quest={quest} merge={m} />)}
      {list.whole && <TestTable title="Acceptance of all that was made" tests={list.whole} quest={quest} />}
    </section>
  )
}

// The patch is read when somebody opens it.
function Patch({ patch }: { patch: Ref }) {
  const [open, setOpen] = useState(false)
  return (
    <details onToggle={(e) => setOpen(e.currentTarget.open)}><summary>The whole patch</summary>
      {open && <Changes patch={patch} name="merged.patch" />}</details>
  )
}

function One({ quest, merge: m }: { quest: string; merge: Merge }) {
  const wrong = m.conflicts.length > 0 || m.error.text || m.error.ref
  return (
    <div className="stack tight">
      <div className="row small">
        <Badge tone={!m.seq ? 'live' : wrong ? 'bad' : 'good'}>{!m.seq ? 'under way' : wrong ? 'the base stays' : 'merged'}</Badge>
        <span>{visible(m.tasks.join(' + '))}</span>
        {m.seq && !wrong && <span className="muted">{several(m.files, 'file')} changed</span>}
        <a href={questLink(quest, 'timeline', { seq: m.seq ?? m.call })}>event {m.seq ?? m.call}</a>
      </div>
      <Told text={m.error} />
      {m.conflicts.length > 0 && <ul className="small">{m.conflicts.map((c) => (
        <li key={c.path}><span className="mono">{visible(c.path)}</span>: {visible(c.reason)}</li>
      ))}</ul>}
      {m.patch && <Patch patch={m.patch} />}
    </div>
  )
}
