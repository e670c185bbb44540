import { lazy } from 'react'
import { paperWords } from '../pages/quest/links'
import { questLink } from '../route'
import { several } from '../ui/show'
import type { Society } from './society'
import { solo } from './solo'

const Papers = lazy(() => import('../pages/papers/papers'))
const Paper = lazy(() => import('../pages/papers/paper'))

/** lab is how a lab is shown: by its papers. */
export const lab: Society = {
  tabs: [{
    path: 'papers',
    label: 'Papers',
    count: ({ papers }) => papers && papers.published + papers.submitted + papers.rejected,
    page: ({ name, id, query }) => (id ? <Paper key={id} name={name} id={id} /> : <Papers name={name} query={query} />),
  }],
  word: paperWords,
  thing: (quest, ref) => questLink(quest, `papers/${ref}`),
  fact: (quest) => quest.lab && ['review', `${several(quest.lab.reviewers, 'reviewer')}, ${quest.lab.decision}`],
  fields: [
    { name: 'agents', label: 'Agents' },
    { name: 'reviewers', label: 'Reviewers of a paper', hint: 'default: 3, or all others' },
    { name: 'decision', label: 'Decision', values: (options) => options.decisions },
    ...solo.fields,
  ],
  question: 'problem',
  small: [],
  marks: { review: 'reviews' },
}
