import { useEffect, useRef } from 'react'
import { questPath } from '../../api/client'
import type { SessionLimits, TaskDetail, TaskRun } from '../../api/types'
import { useQuestResource } from '../../live/context'
import { questLink } from '../../route'
import { flat, visible } from '../../text/plain'
import { Badge } from '../../ui/show'
import { Ready } from '../../ui/states'
import { TerminalLog } from '../agents/terminal'
import '../agents/agents.css'
import { Artifacts, Errors, Found, Package, Story } from './run'
import { isOpen, proof } from './columns'
import { Orders } from './orders'
import { TestTable } from './tests'

type Props = { quest: string; task: string; limits?: SessionLimits; query: URLSearchParams; onClose: () => void }

const tones: Record<TaskDetail['state'], string> = { planned: '', working: 'live', judging: 'asks', accepted: 'good', failed: 'bad', cancelled: 'warn' }
const names: Record<TaskDetail['state'], string> = {
  planned: 'planned', working: 'at work', judging: 'to be judged', accepted: 'accepted', failed: 'failed', cancelled: 'cancelled',
}

/** Drawer is one task: what it is, what was handed over, what came of it. */
export function Drawer({ quest, task, limits, query, onClose }: Props) {
  const detail = useQuestResource<TaskDetail>(questPath(quest, `/tasks/${encodeURIComponent(task)}`))
  const box = useRef<HTMLElement>(null)
  useEffect(() => { box.current?.focus({ preventScroll: true }) }, [])
  return (
    <>
      <div className="drawer-shade" onClick={onClose} aria-hidden="true" />
      <aside ref={box} className="drawer" tabIndex={-1} aria-label={flat(`Task ${task}`)} onKeyDown={(e) => { if (e.key === 'Escape') onClose() }}>
        <div className="row between"><h3 className="mono">{visible(task)}</h3><button className="button small" onClick={onClose}>Close</button></div>
        <Ready of={detail} what="the task">{(t) => <Inner quest={quest} task={t} limits={limits} query={query} again={detail.again} />}</Ready>
      </aside>
    </>
  )
}

type InnerProps = { quest: string; task: TaskDetail; limits?: SessionLimits; query: URLSearchParams; again: () => void }

function Inner({ quest, task: t, limits, query, again }: InnerProps) {
  const asked = Number(query.get('run') ?? 0)
  const run = t.runs.find((r) => r.run === asked) ?? t.runs.at(-1)
  const tab = query.get('tab') ?? ''
  const to = (change: { tab?: string; run?: number }) => questLink(quest, 'tasks', { task: t.id, tab, run: asked || undefined, ...change })
  const faults = t.runs.reduce((n, r) => n + r.errors.length, 0)
  const tabs: Array<[string, string, number?]> = [
    ['', 'Task'], ['package', 'Package'], ['terminal', 'Terminal', run?.commands], ['changes', 'Changes', run?.found?.files],
    ['tests', 'Tests'], ['artifacts', 'Artifacts', run?.manifest?.items.length], ['errors', 'Errors', faults],
  ]
  return (
    <div className="stack">
      <div className="row">
        <Badge tone={tones[t.state]}>{names[t.state]}</Badge>
        {t.executor && <span className="small">by <a href={questLink(quest, `agents/${t.worker}`)}>{visible(t.executor)}</a></span>}
        {t.reason && <span className="small muted">{visible(t.reason)}</span>}
      </div>
      <p className="goal">{visible(t.goal)}</p>
      {isOpen(t) && <Orders quest={quest} task={t} again={again} />}
      {t.runs.length > 0 && (
        <nav className="row runs" aria-label="Runs">
          {t.runs.map((r) => <a key={r.run} className={`button small ${r.outcome ?? 'open'}`} href={to({ run: r.run })} aria-current={r === run
            ? 'true' : undefined}>
            {r.repair ? 'repair' : 'run'} {r.run}<RunSign run={r} /></a>)}
        </nav>
      )}
      <nav className="tabs inner-tabs" aria-label="About the task">
        {tabs.map(([id, label, n]) => <a key={id} href={to({ tab: id })} aria-current={tab === id ? 'page' : undefined}>
          {label}{n ? <span className="count num">{n}</span> : null}</a>)}
      </nav>
      <Shown quest={quest} task={t} run={run} limits={limits} tab={tab} />
    </div>
  )
}

function RunSign({ run }: { run: TaskRun }) {
  if (!run.outcome) return <Badge tone="live">now</Badge>
  if (run.judged) return <Badge tone={run.judged.verdict === 'accept' ? 'good' : 'warn'}>{visible(run.judged.verdict)}</Badge>
  return <Badge tone={run.outcome === 'checked' ? 'good' : run.outcome === 'error' ? 'bad'
    : 'warn'}>{visible(run.errors.at(-1)?.category ?? run.outcome)}</Badge>
}

function Shown({ quest, task, run, limits, tab }: { quest: string; task: TaskDetail; run?: TaskRun; limits?: SessionLimits; tab: string }) {
  if (tab === 'errors') return <Errors quest={quest} task={task} />
  if (tab === '' || !run) return <Story quest={quest} task={task} />
  switch (tab) {
    case 'package': return <Package quest={quest} run={run} />
    case 'terminal': return (
      <div className="stack tight">
        <p className="small muted num">{run.commands} {run.commands === 1 ? 'command' : 'commands'}{limits
          && ` of at most ${limits.max_cli_calls_per_task} of the task`}</p>
        <TerminalLog key={run.seq} quest={quest} agent={run.worker} from={run.seq} to={run.ended} />
      </div>
    )
    case 'changes': return <Found key={run.seq} run={run} task={task.id} />
    case 'tests': return (
      <div className="stack">
        {proof(task.before, run.after) && <p className="note">{proof(task.before, run.after)}</p>}
        {run.after ? <TestTable title="After, on base and patch" tests={run.after} quest={quest} /> : <p
          className="muted">They have not run on what this run made.</p>}
        {task.before && <TestTable title="Before, on the base" tests={task.before} quest={quest} />}
      </div>
    )
    case 'artifacts': return <Artifacts run={run} />
    default: return null
  }
}
