import { lazy, Suspense } from 'react'
import { recordWords } from '../pages/quest/links'
import { questLink } from '../route'
import type { Society } from './society'

const Talk = lazy(() => import('../pages/talk/page'))
const Results = lazy(() => import('../pages/study/results-card'))
const Canvas = lazy(() => import('../pages/study/canvas'))
const Records = lazy(() => import('../pages/study/records'))
const Dock = lazy(() => import('../pages/talk/dock'))

/** stages is how a study is shown: by the conversation with its researcher. */
export const stages: Society = {
  tabs: [
    { path: 'talk', label: 'Conversation', page: ({ name }) => <Talk name={name} /> },
    { path: 'records', label: 'Records', page: ({ name, query }) => <Records name={name} query={query} /> },
  ],
  front: (quest) => <Suspense><Results quest={quest.name} /></Suspense>,
  canvas: ({ name, query }) => <Canvas name={name} query={query} />,
  dock: (quest, page) => page !== 'talk' && <Dock quest={quest} asks={page !== ''} />,
  word: recordWords,
  beside: (quest) => <a className="small" href={questLink(quest.name, 'talk')}>the conversation</a>,
  fields: [],
  question: 'problem',
  small: [],
}
