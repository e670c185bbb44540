import { useState } from 'react'
import type { Agent, Doing, Question } from '../../api/types'
import { useLive } from '../../live/context'
import { words, type Saying } from '../../live/stream'
import { questLink } from '../../route'
import { clip, flat, visible } from '../../text/plain'
import { several } from '../../ui/show'

// Up to so many agents are told in full; more are a grid, and what one of them says is shown to who asks.
export const few = 4

/** Team shows what each agent does right now, with what it is just saying. */
export function Team({ name, team, running, questions }: { name: string; team: Agent[]; running: boolean; questions: Question[] }) {
  const { snapshot: { saying } } = useLive()
  const asks = new Set(questions.filter((q) => q.blocking && !q.answered).map((q) => q.asker))
  const [open, setOpen] = useState('')
  const told = (agent: Agent) => <One key={agent.name} quest={name} agent={agent} doing={doingNow(agent.doing, running)} asks={asks.has(agent.name)}
    saying={saying.get(agent.name)} />
  const opened = team.find((agent) => agent.name === open)
  return (
    <section className="card team" aria-labelledby="team">
      <div className="row between">
        <h2 id="team">{running ? 'Right now' : 'Agents'}</h2>
        {team.length > few && <span className="small muted">{tally(team, running)}</span>}
      </div>
      {team.length <= few ? <ul className="told">{team.map(told)}</ul> : (
        <>
          <div className="agent-cells" role="group" aria-label="Agents, each with what it does">
            {team.map((agent) => <Cell key={agent.name} agent={agent} doing={doingNow(agent.doing, running)} asks={asks.has(agent.name)}
              speaks={words(saying.get(agent.name)) !== ''} open={agent.name === open} onOpen={() => setOpen(agent.name === open ? '' : agent.name)} />)}
          </div>
          {opened ? <ul className="told">{told(opened)}</ul> : <p className="small muted">Choose an agent to see what it says.</p>}
        </>
      )}
    </section>
  )
}

// How many do what, those first that do something.
function tally(team: Agent[], running: boolean): string {
  const counts = new Map<Doing['kind'], number>()
  for (const agent of team) {
    const { kind } = doingNow(agent.doing, running)
    counts.set(kind, (counts.get(kind) ?? 0) + 1)
  }
  return [...counts].sort(([a], [b]) => rank[a] - rank[b]).map(([kind, n]) => `${n} ${kind}`).join(', ')
}

const rank: Record<Doing['kind'], number> = { running: 0, reviewing: 1, thinking: 2, ready: 3, answered: 4, rules: 5, parked: 6, resting: 7 }
// Shapes say what colour cannot: filled is busy, a ring waits.
const shapes: Record<Doing['kind'], string> = { running: '▶', reviewing: '◆', thinking: '●', ready: '○', answered: '★', rules: '□', parked: '‖', resting: '·' }

function Cell({ agent, doing, asks, speaks, open, onOpen }:
  { agent: Agent; doing: Doing; asks: boolean; speaks: boolean; open: boolean; onOpen: () => void }) {
  const kind = asks ? 'asks you' : doing.kind
  const about = doing.title ?? doing.command ?? doing.tool ?? doing.reason ?? ''
  return (
    <button className={`agent-cell ${asks ? 'asks' : isBusy(doing) ? 'busy' : ''}`} aria-pressed={open} onClick={onOpen}
      title={flat(`${agent.name}, ${kind}${about && `: ${clip(about, 140)}`}`)}>
      <span className="agent-shape" aria-hidden="true">{asks ? '?' : shapes[doing.kind]}</span>
      <span className="agent-name">{agent.name}</span>
      <span className="agent-doing">{kind}{speaks && '…'}</span>
    </button>
  )
}

const isBusy = ({ kind }: Doing) => kind === 'thinking' || kind === 'running' || kind === 'reviewing'

/** mindOf is what decides for an agent: an executor and what it gets, or a model; empty for rules alone. */
export const mindOf = (agent: Agent): string => agent.executor ? `${agent.executor} · ${agent.model}` : agent.model

/** doingNow corrects what an agent was at when its quest ended: nobody works in a quest that does not run. */
export function doingNow(doing: Doing, running: boolean): Doing {
  const busy = doing.kind === 'thinking' || doing.kind === 'running' || doing.kind === 'reviewing' || doing.kind === 'ready'
  return busy && !running ? { kind: 'resting', since: doing.since, seq: doing.seq } : doing
}

function One({ quest, agent, doing, asks, saying }: { quest: string; agent: Agent; doing: Doing; asks: boolean; saying?: Saying }) {
  const { kind } = doing
  const busy = !asks && isBusy(doing)
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
        {agent.commands > 0 && `, ${several(agent.commands, 'command')}`}</p>}
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
