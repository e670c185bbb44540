import { lazy } from 'react'
import { paperWords } from '../pages/quest/links'
import { questLink } from '../route'
import type { Society } from './society'

const Attempts = lazy(() => import('../pages/attempts/page'))

/** world is how the work of a maker is shown: by its attempts. */
export const world: Society = {
  tabs: [{ path: 'attempts', label: 'Attempts', page: ({ name, query }) => <Attempts name={name} query={query} /> }],
  word: paperWords,
  thing: (quest, attempt) => questLink(quest, 'attempts', { attempt: attempt.replace(/\D/g, '') }),
  beside: (quest) => <a className="small" href={questLink(quest.name, 'attempts')}>its attempts</a>,
  fields: [],
  question: 'problem',
  small: ['structure', 'channel', 'lever', 'object', 'block', 'verdict', 'try'],
}
