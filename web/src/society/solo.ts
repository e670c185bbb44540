import { paperWords } from '../pages/quest/links'
import type { Society } from './society'

/** solo is an agent alone, and what a society is shown as that the page does not know. */
export const solo: Society = {
  tabs: [],
  word: paperWords,
  fields: [{ name: 'profile', label: 'Profile', hint: 'what the agents are good at', values: (options) => options.profiles.map((p) => p.name) }],
  question: 'problem',
  small: [],
  bare: true,
}
