import { useState } from 'react'
import { create, Failure } from '../../api/client'
import type { Example } from '../../api/types'
import { go, questLink } from '../../route'
import { Badge } from '../../ui/show'
import { Empty } from '../../ui/states'

/** Examples makes a quest of one that comes with Lyceum. */
export function Examples({ examples }: { examples: Example[] }) {
  if (examples.length === 0) return <Empty title="No examples">This build of Lyceum brings none. Use the form instead.</Empty>
  return <ul className="examples">{examples.map((e) => <One key={e.name} example={e} />)}</ul>
}

function One({ example }: { example: Example }) {
  const [busy, setBusy] = useState(false)
  const [wrong, setWrong] = useState('')
  const start = async () => {
    setBusy(true)
    setWrong('')
    try {
      const quest = await make(example.name)
      go(questLink(quest))
    } catch (error) {
      setWrong(error instanceof Failure ? error.message : String(error))
      setBusy(false)
    }
  }
  return (
    <li className="card">
      <div className="row"><h2>{example.name}</h2><Badge>{example.society}</Badge>{example.offline ? <Badge tone="good">offline, no key</Badge>
        : <Badge tone="warn">needs a key</Badge>}</div>
      <p className="problem">{example.problem}</p>
      {example.note && <p className="muted small">{example.note}</p>}
      <details><summary>quest.yaml</summary><pre className="pre" tabIndex={0}>{example.spec}</pre></details>
      {wrong && <p className="note bad" role="alert">{wrong}</p>}
      <div className="row"><button className="button first" disabled={busy} onClick={() => void start()}
        aria-label={busy ? undefined : `Run it: ${example.name}`}>{busy ? 'Making it…' : 'Run it'}</button></div>
    </li>
  )
}

// The second quest of an example needs another name than the first.
async function make(example: string): Promise<string> {
  for (let n = 1; ; n++) {
    try {
      const made = await create({ example, name: n === 1 ? undefined : `${example}-${n}`, start: true })
      return made.name
    } catch (error) {
      if (!(error instanceof Failure) || error.status !== 409 || n > 50) throw error
    }
  }
}
