import type { Summary } from '../../api/types'
import { several } from '../../ui/show'

/** A Column is a figure of a quest that the list can have and be sorted by. */
export type Column = 'answer' | 'society' | 'model' | 'agents' | 'agreement' | 'papers' | 'events' | 'cost' | 'activity' | 'age'

export const columns: Column[] = ['answer', 'society', 'model', 'agents', 'agreement', 'papers', 'events', 'cost', 'activity', 'age']
export const usual: Column[] = ['answer', 'society', 'agents', 'agreement', 'cost', 'activity', 'age']

export type Sort = 'latest' | 'name' | 'state' | Exclude<Column, 'activity' | 'age'>
export type Group = '' | 'society' | 'state' | 'model' | 'question'

/** cost is what is known of what a quest has cost. */
export const cost = (q: Summary) => Number(q.cost_usd ?? q.cost_at_least_usd ?? 0)

/** agreement is the share of papers, or else of votes, that are for the answer; -1 where nobody counts. */
export function agreement({ verdict: v }: Summary): number {
  if (!v) return -1
  if (v.same !== undefined && v.otherwise !== undefined && v.same + v.otherwise > 0) return (v.same + 1) / (v.same + 1 + v.otherwise)
  return v.votes !== undefined && v.voters ? v.votes / v.voters : -1
}

/** agreed is the same in words. */
export function agreed({ verdict: v }: Summary): string {
  if (!v) return ''
  if (v.same !== undefined && v.otherwise !== undefined && v.votes !== undefined) {
    return `${v.same + 1} of ${several(v.same + 1 + v.otherwise, 'paper')}, ${v.votes} of ${several(v.voters ?? 0, 'vote')}`
  }
  return v.agree
}

const paperCount = (q: Summary) => (q.papers ? q.papers.published + q.papers.submitted + q.papers.rejected : -1)

// What is more comes first; words come in their order.
const by: Record<Exclude<Sort, 'latest'>, (a: Summary, b: Summary) => number> = {
  name: (a, b) => a.name.localeCompare(b.name, 'en', { numeric: true }),
  state: (a, b) => a.status.localeCompare(b.status),
  answer: (a, b) => (b.verdict ? 1 : 0) - (a.verdict ? 1 : 0) || (a.verdict?.value ?? '').localeCompare(b.verdict?.value ?? '', 'en', { numeric: true }),
  society: (a, b) => a.society.localeCompare(b.society),
  model: (a, b) => a.models.join().localeCompare(b.models.join()),
  agents: (a, b) => b.agents - a.agents,
  agreement: (a, b) => agreement(b) - agreement(a),
  papers: (a, b) => paperCount(b) - paperCount(a),
  events: (a, b) => b.events - a.events,
  cost: (a, b) => cost(b) - cost(a),
}

/** sorted orders quests; those that run come first, and the server's order, the latest first, decides among equals. */
export function sorted(quests: readonly Summary[], sort: Sort): Summary[] {
  const out = [...quests]
  if (sort !== 'latest') out.sort(by[sort])
  return [...out.filter((q) => q.running), ...out.filter((q) => !q.running)]
}

const groups: Record<Exclude<Group, ''>, (q: Summary) => string> = {
  society: (q) => q.society || 'not readable', state: (q) => q.status.replaceAll('_', ' '), model: (q) => q.models.join(', ') || 'no model',
  question: (q) => q.question ?? 'no question at hand',
}

export type Line = { kind: 'quest'; quest: Summary } | { kind: 'group'; name: string; count: number; cost: number }

/** lined puts quests below the names of their groups, which come in the order of their first. */
export function lined(quests: readonly Summary[], group: Group): Line[] {
  if (group === '') return quests.map((quest) => ({ kind: 'quest', quest }))
  const parts = new Map<string, Summary[]>()
  for (const q of quests) {
    const name = groups[group](q)
    parts.set(name, [...(parts.get(name) ?? []), q])
  }
  return [...parts].flatMap(([name, list]): Line[] => [
    { kind: 'group', name, count: list.length, cost: total(list) }, ...list.map((quest): Line => ({ kind: 'quest', quest })),
  ])
}

export const total = (quests: readonly Summary[]) => quests.reduce((sum, q) => sum + cost(q), 0)

/** matches reports whether a quest has all words that somebody looks for. */
export function matches(q: Summary, find: string): boolean {
  const text = [q.name, q.question, q.society, q.status, q.verdict?.value, ...q.models].join(' ').toLowerCase()
  return find.toLowerCase().split(/\s+/).every((word) => text.includes(word))
}
