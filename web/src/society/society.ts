import type { ReactNode } from 'react'
import type { Detail, Edge, Options } from '../api/types'
import type { Context } from '../text/markdown'

/** What a page of a quest is asked to show: the rest of its address. */
export type Asked = { name: string; id: string | undefined; query: URLSearchParams }

/** A Tab is a page that a society has besides those of every quest. */
export type Tab = {
  path: string
  label: string
  /** last says that it stands behind the agents; the others stand before them. */
  last?: boolean
  count?: (quest: Detail) => number | undefined
  page: (asked: Asked) => ReactNode
}

/** What a form can have besides what every quest has. */
export type Asking = 'agents' | 'reviewers' | 'decision' | 'profile' | 'audit'

/** A FormField is a key of quest.yaml that a society has: a choice, or a figure. */
export type FormField = { name: Asking; label: string; hint?: string; values?: (options: Options) => string[] }

/** Society is all that the page knows of one society. */
export type Society = {
  tabs: Tab[]
  /** dock stands beside a page of a quest, wherever there is room for both; page is which. */
  dock?: (quest: Detail, page: string) => ReactNode
  /** front stands on the overview, before the question and the answer. */
  front?: (quest: Detail) => ReactNode
  /** canvas is drawn in the place of the one that all quests have. */
  canvas?: (asked: Asked) => ReactNode
  /** word makes what an answer refers to into links. */
  word: (quest: string) => Context['word']
  /** thing is where one reads more of what an event is about, as the server names it. */
  thing?: (quest: string, of: string) => string
  /** beside stands beside the heading of an answer. */
  beside?: (quest: Detail) => ReactNode
  /** fact is how the society works: what it is called, and what it is. */
  fact?: (quest: Detail) => [string, string] | undefined
  fields: FormField[]
  /** question is the key of quest.yaml that has the question. */
  question: string
  /** small are the kinds of nodes that need little room on the canvas. */
  small: string[]
  /** marks are the kinds of nodes that are drawn as marks on another, by the edge that leads there. */
  marks?: Record<string, Edge['kind']>
  /** bare says that nothing is joined with anything: there is no canvas. */
  bare?: boolean
}
