import { useEffect, useState } from 'react'
import { useResource } from '../../api/resource'
import type { Example, Quests as Answer } from '../../api/types'
import { go, link } from '../../route'
import { Ready } from '../../ui/states'
import { titled } from '../../ui/title'
import { CrateButton, CrateComing, useCrate } from './crate'
import { Examples } from './examples'
import { List } from './list'
import { matches } from './table'
import './quests.css'

const every = 3000

/** Quests lists them all. Nothing streams here: it asks again while somebody looks. */
export function Quests() {
  const [round, setRound] = useState(0)
  const [find, setFind] = useState('')
  useEffect(() => {
    const timer = window.setInterval(() => document.visibilityState === 'visible' && setRound((n) => n + 1), every)
    return () => window.clearInterval(timer)
  }, [])
  const quests = useResource<Answer>('/quests', round)
  const asked = quests.data?.quests.reduce((n, q) => n + q.open_questions, 0) ?? 0
  useEffect(() => { document.title = titled('Quests · Lyceum', asked) }, [asked])
  const crate = useCrate()
  return (
    <div className={crate.over ? 'page takes over' : 'page takes'} {...crate.drops}>
      <div className="head">
        <h1>Quests</h1>
        <div className="row">
          {(quests.data?.quests.length ?? 0) > 6 && (
            <input className="find" type="search" aria-label="Find a quest" placeholder="Find a quest" value={find} onChange={(e) => setFind(e.target.value)} />
          )}
          <CrateButton crate={crate} />
          {quests.data && <a className={quests.data.quests.length > 0 ? 'button first' : 'button'} href="#/new">New quest</a>}
        </div>
      </div>
      <CrateComing crate={crate} />
      {quests.failure?.status === 0 && quests.data && (
        <p className="note warn" role="status">The server does not answer; this is what it said last. Trying again every few seconds.</p>
      )}
      <Ready of={quests} what="the quests">
        {({ quests: all }) => all.length === 0 ? <None /> : <List all={all.length} quests={all.filter((q) => matches(q, find))} />}
      </Ready>
    </div>
  )
}

// Where there is nothing yet, the first thing is a question; who has none begins with an example.
function None() {
  const [question, setQuestion] = useState('')
  const examples = useResource<{ examples: Example[] }>('/examples')
  return (
    <div className="stack loose">
      <form className="card stack" onSubmit={(e) => { e.preventDefault(); go(link(['new'], { question: question.trim() })) }}>
        <h2 id="first-question">What do you want to know?</h2>
        <textarea rows={4} aria-labelledby="first-question" value={question} onChange={(e) => setQuestion(e.target.value)} />
        <div className="row"><button className="button first">Ask it</button>
          <span className="small muted">No quests yet. A quest puts one question to a society of agents; what it costs is said before it runs.</span></div>
      </form>
      <section className="stack" aria-labelledby="first-examples">
        <h2 id="first-examples">Or begin with an example, or drop an exported quest here</h2>
        <Ready of={examples} what="the examples">{({ examples: all }) => <Examples examples={all} />}</Ready>
      </section>
    </div>
  )
}
