import type { Edge, Node } from '../../api/types'
import { markKinds } from '../../society'
import { alive, belonging, type Graph } from './graph'

/** A Card is what the page draws of a node: small things that belong to it are marks on it, not nodes beside it. */
export type Card = { node: Node; marks: Node[]; votes: Edge[] }

/**
 * Grouped is the graph as it is drawn. Edges join cards; lines join an agent with a card. There are so many lines
 * that only those of what is selected can be drawn. owner is the card on which a mark stands.
 */
export type Grouped = { cards: Map<string, Card>; agents: Node[]; edges: Edge[]; lines: Edge[]; owner: Map<string, string> }

/** group makes marks of what belongs to another node, and leaves out the kinds that are hidden. */
export function group(graph: Graph, hidden: ReadonlySet<string>): Grouped {
  const owner = new Map<string, string>()
  for (const edge of graph.edges.values()) {
    const mark = graph.nodes.get(edge.from)
    if (mark && markKinds.get(mark.kind) === edge.kind && graph.nodes.has(edge.to)) owner.set(mark.id, edge.to)
  }
  const out: Grouped = { cards: new Map(), agents: [], edges: [], lines: [], owner }
  for (const node of graph.nodes.values()) {
    if (hidden.has(node.kind) || owner.has(node.id)) continue
    if (node.kind === 'agent') out.agents.push(node)
    else out.cards.set(node.id, { node, marks: [], votes: [] })
  }
  for (const [mark, card] of owner) {
    const node = graph.nodes.get(mark)
    if (node && !hidden.has(node.kind)) out.cards.get(card)?.marks.push(node)
  }
  for (const card of out.cards.values()) card.marks.sort((a, b) => a.seq - b.seq)
  for (const edge of graph.edges.values()) join(out, graph, edge)
  return out
}

function join(out: Grouped, graph: Graph, edge: Edge) {
  const from = out.owner.get(edge.from) ?? edge.from
  const to = out.owner.get(edge.to) ?? edge.to
  if (from === to) return
  if (edge.kind === 'votes') out.cards.get(to)?.votes.push(edge)
  if (graph.nodes.get(from)?.kind !== 'agent' && graph.nodes.get(to)?.kind !== 'agent') {
    if (out.cards.has(from) && out.cards.has(to)) out.edges.push({ ...edge, from, to })
    return
  }
  // Who wrote a mark has to do with its card in the way in which the mark has.
  const mark = graph.nodes.get(edge.to)
  const kind = (mark && out.owner.has(mark.id) ? markKinds.get(mark.kind) : undefined) as Edge['kind'] | undefined
  out.lines.push({ ...edge, from, to, kind: kind ?? edge.kind })
}

/** votesAt are the votes for a card that hold after an event. */
export const votesAt = (card: Card, at: number) => card.votes.filter((v) => alive(v, at))

// What cites another rests on it; what is supported rests on what supports it, and stands or falls by what attacks it.
const onTarget: ReadonlySet<string> = new Set(['cites', 'revises', 'caused-by', 'supersedes', 'reviews', 'bids', 'compares'])

/** Closure is what a node rests on, near and far, and what rests on it. */
export type Closure = { up: Set<string>; down: Set<string> }

/** closure follows edges from a card both ways; of an agent it is what the agent had to do with. */
export function closure(graph: Graph, grouped: Grouped, id: string): Closure {
  const start = grouped.owner.get(id) ?? id
  if (graph.nodes.get(start)?.kind === 'agent') {
    const near = [...belonging(graph, start.slice(start.indexOf(':') + 1))].map((n) => grouped.owner.get(n) ?? n)
    return { up: new Set(), down: new Set(near.filter((n) => n !== start)) }
  }
  const below = new Map<string, string[]>()
  const above = new Map<string, string[]>()
  for (const { from, to, kind } of grouped.edges) {
    const [one, ground] = onTarget.has(kind) ? [from, to] : [to, from]
    below.set(one, [...(below.get(one) ?? []), ground])
    above.set(ground, [...(above.get(ground) ?? []), one])
  }
  return { up: reach(below, start), down: reach(above, start) }
}

function reach(next: Map<string, string[]>, start: string): Set<string> {
  const seen = new Set<string>()
  const open = [start]
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    for (const n of next.get(id) ?? []) if (n !== start && !seen.has(n)) { seen.add(n); open.push(n) }
  }
  return seen
}

/** narrowed is the part of a graph that has to do with one of its nodes. */
export function narrowed(graph: Graph, grouped: Grouped, id: string): Grouped {
  const { up, down } = closure(graph, grouped, id)
  const start = grouped.owner.get(id) ?? id
  const keep = (n: string) => n === start || up.has(n) || down.has(n)
  return {
    ...grouped,
    cards: new Map([...grouped.cards].filter(([n]) => keep(n))),
    agents: grouped.agents.filter((n) => keep(n.id)),
    edges: grouped.edges.filter((e) => keep(e.from) && keep(e.to)),
  }
}

/** wordsOf is what a card is found by. */
export const wordsOf = ({ node, marks }: Card) =>
  [node.label, node.kind, node.status, node.agent, node.says, node.ref, node.detail, ...marks.flatMap((m) => [m.label, m.agent])].join(' ')
