import type { TaskCard, TaskList, TaskOrder, Tests } from '../../api/types'

export type Column = { id: string; title: string; tasks: TaskCard[] }

const titles: Array<[string, string, TaskCard['state'][]]> = [
  ['planned', 'Planned', ['planned']],
  ['working', 'At work', ['working']],
  ['judging', 'To be judged', ['judging']],
  ['accepted', 'Accepted', ['accepted']],
  ['ended', 'Failed or cancelled', ['failed', 'cancelled']],
]

/** columns sorts tasks by where they stand, in the order of the plan. */
export const columns = (tasks: readonly TaskCard[]): Column[] =>
  titles.map(([id, title, states]) => ({ id, title, tasks: tasks.filter((t) => states.includes(t.state)) }))

/** planned says where the plan stands. */
export function planned({ plan }: Pick<TaskList, 'plan'>): string {
  if (!plan) return 'There is no plan yet.'
  if (!plan.approved) return 'The plan is proposed.'
  if (plan.edited) return 'The plan stands as a person has changed it.'
  return plan.question ? 'The plan stands: a person said yes to it.' : 'The plan stands.'
}

export type Outcome = 'running' | 'pass' | 'fail'

/** outcome is how acceptance commands ended. */
export function outcome(tests: Tests | undefined): Outcome | undefined {
  if (!tests) return undefined
  if (!tests.seq) return 'running'
  return tests.error.text || tests.error.ref || tests.commands.some((c) => c.exit !== 0 || c.end) ? 'fail' : 'pass'
}

/** proof says what the commands show: they must fail before, or they prove nothing. */
export function proof(before: Tests | undefined, after: Tests | undefined): string {
  const [was, is] = [outcome(before), outcome(after)]
  if (is === 'pass' && was === 'pass') return 'They succeeded before, too: this proves nothing.'
  if (is === 'pass' && was === 'fail') return 'They failed before and succeed now.'
  return ''
}

/** isOpen says whether a task can still be told something. */
export const isOpen = ({ state }: Pick<TaskCard, 'state'>): boolean => state === 'planned' || state === 'working' || state === 'judging'

/** recorded says what became of an order about a task. */
export function recorded(action: TaskOrder['action'], running: boolean): string {
  if (!running) return 'Recorded. Nobody runs the quest: it takes effect when it is started.'
  return action === 'cancel' ? 'Recorded. The task ends as soon as its executor is stopped.' : 'Recorded. Whoever works on the task is told.'
}
