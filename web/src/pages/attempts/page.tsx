import { questPath } from '../../api/client'
import type { AttemptList } from '../../api/types'
import { useLive, useQuestResource } from '../../live/context'
import { questLink } from '../../route'
import { visible } from '../../text/plain'
import { Plot } from '../../ui/plot'
import { Badge, several } from '../../ui/show'
import { Empty, Ready } from '../../ui/states'
import { Questions } from '../quest/questions'
import { One } from './attempt'
import './attempts.css'
import { share, surprises, tone } from './told'

/** Attempts is what a maker made: all attempts, and one of them beside what was predicted and seen. Nothing of it runs here. */
export default function Attempts({ name, query }: { name: string; query: URLSearchParams }) {
  const { quest } = useLive()
  const list = useQuestResource<AttemptList>(questPath(name, '/attempts'))
  return (
    <div className="page attempts">
      <h2 className="hidden-label">Attempts</h2>
      {quest.data && <Questions quest={quest.data} />}
      <Ready of={list} what="the attempts">{(l) => (l.attempts.length === 0
        ? <><Empty title="No attempts yet">The maker has not proposed anything. This page follows it.</Empty><Structure list={l} quest={name} /></>
        : <All quest={name} list={l} chosen={Number(query.get('attempt')) || l.attempts.length} />)}</Ready>
    </div>
  )
}

function All({ quest, list, chosen }: { quest: string; list: AttemptList; chosen: number }) {
  const one = list.attempts.find((a) => a.attempt === chosen)
  const points = surprises(quest, list)
  return (
    <div className="stack loose">
      <ol className="attempt-list">
        {list.attempts.map((a) => (
          <li key={a.attempt} className={`card attempt ${a.state} ${a.attempt === chosen ? 'chosen' : ''}`}>
            <a className="title" href={questLink(quest, 'attempts', { attempt: a.attempt })} aria-current={a.attempt === chosen ? 'true' : undefined}>
              Attempt {a.attempt}</a>
            <p className="small">{visible(a.intent)}</p>
            <div className="row badges"><Badge tone={tone(a.state)}>{a.state}</Badge>
              {a.tiers.map((t) => <Badge key={t.tier} tone={tone(t.verdict)}>{`${t.tier} ${visible(t.verdict ?? 'under way')}`}</Badge>)}</div>
            <p className="small muted num">{a.reward
              && (typeof a.reward.sum === 'number' ? `reward ${share(a.reward.sum)}` : 'no reward: it cannot be told')}
              {a.tries.length > 0 && ` · ${several(a.tries.length, 'trial')}`}</p>
          </li>
        ))}
      </ol>
      {points.length > 0 && <Plot label="Surprise over time" better="lower" points={points} level={{ name: 'a coin', value: '0.25' }}
        means={{ full: 'nothing unforeseen', cross: 'something unforeseen' }} />}
      {one ? <One quest={quest} attempt={one} /> : <p className="note">There is no attempt {chosen}.</p>}
      <Structure list={list} quest={quest} />
    </div>
  )
}

function Structure({ list, quest }: { list: AttemptList; quest: string }) {
  if (!list.structure) return null
  return (
    <section className="stack tight" aria-labelledby="structure">
      <h3 id="structure">What it is said to consist of</h3>
      <ul className="small">{list.structure.parts.map((p, i) => <li key={i}>{visible(p)}</li>)}</ul>
      <p className="small"><a href={questLink(quest, 'timeline', { seq: list.structure.seq })}>event {list.structure.seq}</a>
        {' · '}<a href={questLink(quest, 'canvas')}>on the canvas</a></p>
    </section>
  )
}
