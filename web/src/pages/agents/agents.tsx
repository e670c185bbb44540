import { questPath } from '../../api/client'
import type { Agent } from '../../api/types'
import { useLive, useQuestResource } from '../../live/context'
import { questLink } from '../../route'
import { visible } from '../../text/plain'
import { useMedia } from '../../ui/media'
import { Badge, count, price, several, short } from '../../ui/show'
import { Empty, Ready } from '../../ui/states'
import { doingNow, mindOf } from '../quest/team'
import './agents.css'

/** Agents lists who works on the quest. */
export default function Agents({ name }: { name: string }) {
  const agents = useQuestResource<{ agents: Agent[] }>(questPath(name, '/agents'))
  const narrow = useMedia('(max-width: 640px)')
  return (
    <div className="page">
      <h2 className="hidden-label">Agents</h2>
      <Ready of={agents} what="the agents">
        {({ agents: all }) => all.length === 0 ? <Empty title="No agents" /> : narrow ? (
          <ul className="agent-cards stack tight">{all.map((a) => <li key={a.name} className="card"><Card quest={name} agent={a} /></li>)}</ul>
        ) : (
          <div className="card flush scroll-x" tabIndex={0} role="region" aria-label="Agents">
            <table className="agents">
              <thead><tr><th scope="col">agent</th><th scope="col">now</th><th scope="col">model</th><th scope="col" className="right">turns</th>
                <th scope="col" className="right">tokens</th><th scope="col" className="right">cost</th>
                <th scope="col" className="right">commands</th><th scope="col" className="right">papers</th></tr></thead>
              <tbody>{all.map((a) => <Row key={a.name} quest={name} agent={a} />)}</tbody>
            </table>
          </div>
        )}
      </Ready>
    </div>
  )
}

type Props = { quest: string; agent: Agent }

function Doing({ agent }: { agent: Agent }) {
  const doing = doingNow(agent.doing, useLive().quest.data?.running ?? false)
  const busy = doing.kind === 'thinking' || doing.kind === 'running' || doing.kind === 'reviewing'
  return <><Badge tone={busy ? 'live' : doing.kind === 'parked' ? 'warn' : ''}>{doing.kind}</Badge> <span className="muted small">
    {visible((doing.command ?? doing.title ?? doing.reason ?? '').slice(0, 70))}</span></>
}

// On a phone a table of eight columns would be scrolled to and fro: an agent is a card.
function Card({ quest, agent }: Props) {
  return (
    <>
      <div className="row between"><a className="name" href={questLink(quest, `agents/${agent.name}`)}>{agent.name}</a>
        <span className="small">{mindOf(agent) || <span className="muted">rules alone</span>}</span></div>
      <p><Doing agent={agent} /></p>
      <p className="small muted num">{[several(agent.turns, 'turn'), `${short(agent.tokens)} tokens`, price(agent.cost_usd), several(agent.commands, 'command'),
        several(agent.papers.length, 'paper')].join(' · ')}</p>
    </>
  )
}

function Row({ quest, agent }: Props) {
  return (
    <tr>
      <th scope="row"><a href={questLink(quest, `agents/${agent.name}`)}>{agent.name}</a></th>
      <td><Doing agent={agent} /></td>
      <td className="small">{mindOf(agent) || <span className="muted">rules alone</span>}</td>
      <td className="right num">{count(agent.turns)}</td>
      <td className="right num">{short(agent.tokens)}</td>
      <td className="right num">{price(agent.cost_usd)}</td>
      <td className="right num">{count(agent.commands)}</td>
      <td className="right num">{agent.papers.length}</td>
    </tr>
  )
}
