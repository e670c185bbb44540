import { lazy } from 'react'
import { paperWords } from '../pages/quest/links'
import { questLink } from '../route'
import type { Society } from './society'

const Talk = lazy(() => import('../pages/talk/page'))
const Dock = lazy(() => import('../pages/talk/dock'))

/** stages is how a study is shown: by the conversation with its researcher. */
export const stages: Society = {
  tabs: [{ path: 'talk', label: 'Conversation', page: ({ name }) => <Talk name={name} /> }],
  dock: (quest, page) => page !== 'talk' && <Dock quest={quest} asks={page !== ''} />,
  word: paperWords,
  beside: (quest) => <a className="small" href={questLink(quest.name, 'talk')}>the conversation</a>,
  fields: [],
  question: 'problem',
  small: [],
}
