import { useState } from 'react'
import type { Agent, Doing, Question } from '../../api/types'
import { useLive } from '../../live/context'
import { words, type Saying } from '../../live/stream'
import { questLink } from '../../route'
import { clip, visible } from '../../text/plain'
import { several } from '../../ui/show'

const few = 12

/** Team shows what each agent does right now, with what it is just saying. */
export function Team({ name, team, running, questions }: { name: string; team: Agent[]; running: boolean; questions: Question[] }) {
  const { snapshot: { saying } } = useLive()
  const asks = new Set(questions.filter((q) => q.blocking && !q.answered).map((q) => q.asker))
  const [all, setAll] = useState(false)
  const shown = all ? team : busiestFirst(team, running).slice(0, few)
  return (
    <section className="card team" aria-labelledby="team">
      <h2 id="team">{running ? 'Right now' : 'Agents'}</h2>
      <ul>{shown.map((agent) => <One key={agent.name} quest={name} agent={agent} doing={doingNow(agent.doing, running)} asks={asks.has(agent.name)}
        saying={saying.get(agent.name)} />)}</ul>
      {team.length > few && <button className="link small" onClick={() => setAll(!all)}>{all ? 'Show fewer' : `Show all ${team.length}`}</button>}
    </section>
  )
}

const rank: Record<Doing['kind'], number> = { running: 0, reviewing: 1, thinking: 2, ready: 3, answered: 4, rules: 5, parked: 6, resting: 7 }

function busiestFirst(team: Agent[], running: boolean): Agent[] {
  return team.length <= few || !running ? team : [...team].sort((a, b) => rank[a.doing.kind] - rank[b.doing.kind])
}

/** mindOf is what decides for an agent: an executor and what it gets, or a model; empty for rules alone. */
export const mindOf = (agent: Agent): string => agent.executor ? `${agent.executor} · ${agent.model}` : agent.model

/** doingNow corrects what an agent was at when its quest ended: nobody works in a quest that does not run. */
export function doingNow(doing: Doing, running: boolean): Doing {
  const busy = doing.kind === 'thinking' || doing.kind === 'running' || doing.kind === 'reviewing' || doing.kind === 'ready'
  return busy && !running ? { kind: 'resting', since: doing.since, seq: doing.seq } : doing
}

function One({ quest, agent, doing, asks, saying }: { quest: string; agent: Agent; doing: Doing; asks: boolean; saying?: Saying }) {
  const { kind } = doing
  const busy = !asks && (kind === 'thinking' || kind === 'running' || kind === 'reviewing')
  const said = words(saying)
  return (
    <li className={busy ? 'busy' : ''}>
      <div className="row between">
        <a href={questLink(quest, `agents/${agent.name}`)}>{agent.name}</a>
        {asks ? <span className="badge asks">asks you</span> : <span className={busy ? 'pulse doing' : 'doing'}>{kind}</span>}
      </div>
      <What quest={quest} doing={doing} />
      {kind === 'resting' && <p className="what">
        {several(agent.turns, 'turn')}{agent.papers.length > 0 && `, ${agent.papers.length} ${agent.papers.length === 1 ? 'paper' : 'papers'}`}
        {agent.commands > 0 && `, ${agent.commands} commands`}</p>}
      {said && <p className={saying?.text ? 'saying' : 'saying thinking'}>{visible(tail(said))}</p>}
    </li>
  )
}

const tail = (text: string) => (text.length > 240 ? `…${text.slice(-240)}` : text)

function What({ quest, doing }: { quest: string; doing: Doing }) {
  if (doing.paper) return <p className="what"><a href={questLink(quest, `papers/${doing.paper}`)}>{visible(clip(doing.title ?? doing.paper, 80))}</a></p>
  if (doing.command) return <p className="what mono">{doing.tool && <b>{doing.tool} </b>}{visible(clip(doing.command, 140))}</p>
  if (doing.tool) return <p className="what mono">{doing.tool}</p>
  if (doing.reason && doing.kind === 'parked') return <p className="what">{visible(clip(doing.reason, 140))}</p>
  return null
}
