import { agentPath } from '../../api/client'
import type { AgentDetail } from '../../api/types'
import { useLive, useQuestResource } from '../../live/context'
import { words } from '../../live/stream'
import { questLink } from '../../route'
import { visible } from '../../text/plain'
import { Badge, duration, price, several, short } from '../../ui/show'
import { Ready } from '../../ui/states'
import { doingNow, mindOf } from '../quest/team'
import { Files } from './files'
import { MindView } from './mind'
import { Spending } from './spending'
import { TerminalLog } from './terminal'
import { TranscriptView } from './transcript'
import './agents.css'

const tabs = [['', 'Transcript'], ['terminal', 'Terminal'], ['files', 'Files'], ['mind', 'Mind'], ['cost', 'Cost'], ['prompt', 'Prompt']] as const

/** AgentPage is one agent: what it read, thought, did and used. */
export default function AgentPage({ name, agent, query }: { name: string; agent: string; query: URLSearchParams }) {
  const detail = useQuestResource<AgentDetail>(agentPath(name, agent))
  const tab = query.get('tab') ?? ''
  return (
    <div className="page">
      <Ready of={detail} what={agent}>
        {(a) => (
          <div className="stack">
            <Head quest={name} agent={a} tab={tab} />
            <nav className="tabs inner-tabs" aria-label={`Pages of ${agent}`}>
              {tabs.filter(([id]) => offered(a, id)).map(([id, label]) => <a key={id} href={questLink(name, `agents/${agent}`, { tab: id })}
                aria-current={tab === id ? 'page' : undefined}>{label}</a>)}
            </nav>
            <Shown quest={name} agent={a} tab={tab} at={Number(query.get('at') ?? 0)} path={query.get('path') ?? ''} />
          </div>
        )}
      </Ready>
    </div>
  )
}

const offered = (a: AgentDetail, tab: string) => !(tab === 'terminal' && a.commands === 0) && !(tab === 'files' && !a.tree)
  && !(tab === 'cost' && a.cost.length === 0) && !(tab === 'prompt' && !a.system)

function Head({ quest, agent, tab }: { quest: string; agent: AgentDetail; tab: string }) {
  const { snapshot, quest: whole } = useLive()
  const doing = doingNow(agent.doing, whole.data?.running ?? false)
  const said = tab === '' ? '' : words(snapshot.saying.get(agent.name)) // the transcript shows it at its end
  return (
    <header className="stack tight">
      <a className="small" href={questLink(quest, 'agents')}>All agents</a>
      <div className="row wide"><h2>{agent.name}</h2><Badge tone={doing.kind === 'parked' ? 'warn' : ''}>{doing.kind}</Badge>
        <span className="small muted">
          {mindOf(agent) || 'works by rules alone'} · {several(agent.turns, 'turn')} · {short(agent.tokens)} tokens
          {' '}· {price(agent.cost_usd)} · {duration(agent.seconds)} of model time
        </span></div>
      {doing.reason && <p className="small muted">{visible(doing.reason)}</p>}
      {agent.papers.length > 0 && <p className="small">Papers: {agent.papers.map((ref, i) => <span key={ref}>{i > 0 && ', '}
        <a href={questLink(quest, `papers/${ref}`)}>{ref.slice(0, 8)}</a></span>)}
        {agent.vote && <> · votes for <a href={questLink(quest, `papers/${agent.vote}`)}>{agent.vote.slice(0, 8)}</a></>}</p>}
      {said && <p className="saying" aria-live="off">{visible(said.slice(-800))}</p>}
    </header>
  )
}

function Shown({ quest, agent, tab, at, path }: { quest: string; agent: AgentDetail; tab: string; at: number; path: string }) {
  switch (tab) {
    case 'terminal': return <TerminalLog quest={quest} agent={agent.name} />
    case 'files': return <Files quest={quest} agent={agent.name} at={at} path={path} />
    case 'mind': return <MindView quest={quest} mind={agent.mind} />
    case 'cost': return <Spending points={agent.cost} />
    case 'prompt': return <pre className="pre tall" tabIndex={0}>{visible(agent.system ?? '')}</pre>
    default: return <TranscriptView quest={quest} agent={agent.name} total={agent.messages} />
  }
}
