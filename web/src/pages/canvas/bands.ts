import type { Edge } from '../../api/types'
import type { Card } from './group'

/** other is the band of what few say. */
export const other = 'other answers'

// More bands than this cannot be told apart: what few say stands together.
const most = 7

/**
 * bandsOf says in which band each card stands: papers with the same answer stand together. What says nothing itself
 * stands with what it came from, where all of that is in one band. Bands come in the order in which their first cards
 * did, so that a live canvas keeps its order; the band without a name is last.
 */
export function bandsOf(cards: readonly Card[], edges: readonly Edge[]): { of: Map<string, string>; order: string[] } {
  const says = new Map<string, number>()
  for (const { node } of cards) if (node.says) says.set(node.says, (says.get(node.says) ?? 0) + 1)
  const large = [...says].sort((a, b) => b[1] - a[1]).slice(0, says.size > most ? most - 1 : most)
  const named = new Set(large.map(([s]) => s))
  const of = new Map<string, string>()
  for (const { node } of cards) of.set(node.id, !node.says ? '' : named.has(node.says) ? node.says : other)
  const near = new Map<string, Set<string>>()
  for (const { from, to, kind } of edges) {
    const band = of.get(to)
    if (kind === 'caused-by' && of.get(from) === '' && band) near.set(from, (near.get(from) ?? new Set()).add(band))
  }
  for (const [id, bands] of near) if (bands.size === 1) of.set(id, [...bands][0] ?? '')
  const order: string[] = []
  for (const { node } of [...cards].sort((a, b) => a.node.seq - b.node.seq)) {
    const band = of.get(node.id) ?? ''
    if (!order.includes(band)) order.push(band)
  }
  return { of, order: [...order.filter((b) => b !== '' && b !== other), ...order.filter((b) => b === other), ...order.filter((b) => b === '')] }
}
