import { questPath } from '../../api/client'
import type { Agent } from '../../api/types'
import { useLive, useQuestResource } from '../../live/context'
import { questLink } from '../../route'
import { visible } from '../../text/plain'
import { Badge, count, price, short } from '../../ui/show'
import { Empty, Ready } from '../../ui/states'
import { doingNow, mindOf } from '../quest/team'
import './agents.css'

/** Agents lists who works on the quest. */
export default function Agents({ name }: { name: string }) {
  const agents = useQuestResource<{ agents: Agent[] }>(questPath(name, '/agents'))
  return (
    <div className="page">
      <h2 className="hidden-label">Agents</h2>
      <Ready of={agents} what="the agents">
        {({ agents: all }) => all.length === 0 ? <Empty title="No agents" /> : (
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

function Row({ quest, agent }: { quest: string; agent: Agent }) {
  const doing = doingNow(agent.doing, useLive().quest.data?.running ?? false)
  const busy = doing.kind === 'thinking' || doing.kind === 'running' || doing.kind === 'reviewing'
  return (
    <tr>
      <th scope="row"><a href={questLink(quest, `agents/${agent.name}`)}>{agent.name}</a></th>
      <td><Badge tone={busy ? 'live' : doing.kind === 'parked' ? 'warn' : ''}>{doing.kind}</Badge> <span className="muted small">
        {visible((doing.command ?? doing.title ?? doing.reason ?? '').slice(0, 70))}</span></td>
      <td className="small">{mindOf(agent) || <span className="muted">rules alone</span>}</td>
      <td className="right num">{count(agent.turns)}</td>
      <td className="right num">{short(agent.tokens)}</td>
      <td className="right num">{price(agent.cost_usd)}</td>
      <td className="right num">{count(agent.commands)}</td>
      <td className="right num">{agent.papers.length}</td>
    </tr>
  )
}
