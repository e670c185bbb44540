import { lazy } from 'react'
import { paperWords } from '../pages/quest/links'
import { questLink } from '../route'
import type { Society } from './society'

const Tasks = lazy(() => import('../pages/tasks/page'))

/** architect is how the work of an architect is shown: by its tasks. */
export const architect: Society = {
  tabs: [{ path: 'tasks', label: 'Tasks', page: ({ name, query }) => <Tasks name={name} query={query} /> }],
  word: paperWords,
  thing: (quest, task) => questLink(quest, 'tasks', { task }),
  beside: (quest) => <a className="small" href={questLink(quest.name, 'tasks')}>its tasks</a>,
  fields: [],
  question: 'problem',
  small: ['artifact'],
}
