import { questPath } from '../../api/client'
import type { TaskCard, TaskList } from '../../api/types'
import { useLive, useQuestResource } from '../../live/context'
import { go, questLink } from '../../route'
import { visible } from '../../text/plain'
import { Badge, several } from '../../ui/show'
import { Empty, Ready } from '../../ui/states'
import { Questions } from '../quest/questions'
import { columns, planned } from './columns'
import { Merges } from './merges'
import { Drawer } from './task'
import './tasks.css'

/** Tasks is the plan of an architect as a board, and one of its tasks beside it. */
export default function Tasks({ name, query }: { name: string; query: URLSearchParams }) {
  const { quest } = useLive()
  const list = useQuestResource<TaskList>(questPath(name, '/tasks'))
  const chosen = query.get('task') ?? ''
  return (
    <div className="page tasks">
      <h2 className="hidden-label">Tasks</h2>
      {quest.data && <Questions quest={quest.data} />}
      <Ready of={list} what="the tasks">{(l) => (l.tasks.length === 0
        ? <Empty title="No tasks yet">The architect has not planned any. This board follows it.</Empty>
        : <Board quest={name} list={l} chosen={chosen} />)}</Ready>
      {chosen && <Drawer key={chosen} quest={name} task={chosen} limits={list.data?.limits} query={query} onClose={() => go(questLink(name, 'tasks'))} />}
    </div>
  )
}

function Board({ quest, list, chosen }: { quest: string; list: TaskList; chosen: string }) {
  const { limits, plan } = list
  return (
    <div className="stack loose">
      <p className="row small">
        <span>{planned(list)}</span>
        {plan && <a href={questLink(quest, 'timeline', { seq: plan.approved ?? plan.seq })}>event {plan.approved ?? plan.seq}</a>}
        {limits && <span className="muted">Of each task at most {several(limits.max_handovers_per_task, 'handover')},{' '}
          {several(limits.max_cli_calls_per_task, 'command')}, {several(limits.max_clarify_rounds_per_task,
            'question')} · executors: {visible(limits.executors.join(', '))}
          {limits.parallel > 1 && ` · ${limits.parallel} at once`}</span>}
      </p>
      <div className="board">
        {columns(list.tasks).map((c) => (
          <section key={c.id} className={`column ${c.id}`} aria-labelledby={`column-${c.id}`}>
            <h3 id={`column-${c.id}`}>{c.title} <span className="muted num">{c.tasks.length}</span></h3>
            {c.tasks.map((t) => <Card key={t.id} quest={quest} task={t} chosen={t.id === chosen} />)}
            {c.tasks.length === 0 && <p className="small muted none">none</p>}
          </section>
        ))}
      </div>
      <Merges quest={quest} list={list} />
    </div>
  )
}

function Card({ quest, task: t, chosen }: { quest: string; task: TaskCard; chosen: boolean }) {
  return (
    <article className={`card task ${t.state} ${chosen ? 'chosen' : ''}`}>
      <a className="title mono" href={questLink(quest, 'tasks', { task: t.id })} aria-current={chosen ? 'true' : undefined}>{visible(t.id)}</a>
      <p className="small">{visible(t.goal)}</p>
      {t.after.length > 0 && t.state === 'planned' && <p className="small muted">after {visible(t.after.join(', '))}</p>}
      <div className="row badges">
        {t.state === 'working' && <Badge tone="live">{visible(t.worker ?? 'at work')}</Badge>}
        {t.state === 'cancelled' && <Badge tone="warn">cancelled</Badge>}
        {t.state === 'failed' && <Badge tone="bad">failed</Badge>}
        {t.waits > 0 && <Badge tone="asks">asks the architect</Badge>}
        {t.repairs > 0 && <Badge tone="warn">{several(t.repairs, 'repair')}</Badge>}
        {t.error && t.state !== 'accepted' && <Badge tone="bad">{visible(t.error)}</Badge>}
        {t.tests_after && <Badge tone={t.tests_after === 'pass' ? (t.tests_before === 'pass' ? 'warn' : 'good') : 'bad'}>
          {t.tests_after === 'pass' ? (t.tests_before === 'pass' ? 'tests prove nothing' : 'tests pass') : 'tests fail'}</Badge>}
      </div>
      {t.handovers > 0 && <p className="small muted num">
        {several(t.handovers, 'run')}{t.files > 0 && <> · {several(t.files, 'file')} <span className="tone-good">+{t.added}</span> <span
          className="tone-bad">−{t.removed}</span></>}
      </p>}
      {t.reason && t.state !== 'accepted' && <p className="small">{visible(t.reason)}</p>}
    </article>
  )
}
