import { lazy } from 'react'
import { sourceWords } from '../pages/quest/links'
import { questLink } from '../route'
import type { Society } from './society'

const Evidence = lazy(() => import('../pages/evidence/page'))

/** contract is how a contract net is shown: by its claims and what they rest on. */
export const contract: Society = {
  tabs: [{
    path: 'evidence',
    label: 'Evidence',
    last: true,
    page: ({ name, query }) => <Evidence name={name} claim={Number(query.get('claim') ?? 0)} source={Number(query.get('source') ?? 0)} />,
  }],
  word: sourceWords,
  beside: (quest) => quest.answer && <a className="small" href={questLink(quest.name, 'evidence')}>with its evidence</a>,
  fact: ({ contract: net }) => net && ['audit', net.round > 1 ? `${net.audit}, round ${net.round}` : net.audit],
  fields: [{ name: 'audit', label: 'Audit', values: (options) => options.audits }],
  question: 'task',
  small: ['award'],
  marks: { bid: 'bids' },
}
