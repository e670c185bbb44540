import { describe, expect, it } from 'vitest'
import type { Edge, Node } from '../../api/types'
import type { Graph } from './graph'
import { bandsOf, other } from './bands'
import { closure, group, narrowed, wordsOf } from './group'
import { layout, type Layout, type Place } from './layout'
import { levelOf, outside } from './levels'

const timeOf = (seq: number) => new Date(Date.UTC(2026, 0, 1) + seq * 1000).toISOString()
const node = (id: string, kind: Node['kind'], seq: number, more?: Partial<Node>): Node =>
  ({ id, kind, label: id, seq, time: timeOf(seq), last: seq, changes: [], ...more })
const edge = (from: string, to: string, kind: Edge['kind'], seq: number): Edge => ({ id: `${kind}:${from}>${to}`, from, to, kind, seq })
const graphOf = (nodes: Node[], edges: Edge[]): Graph =>
  ({ nodes: new Map(nodes.map((n) => [n.id, n])), edges: new Map(edges.map((e) => [e.id, e])), agents: [], head: 1e6, truncated: false })

// A lab of so many agents and papers, each with reviews, citations, and one of three answers.
function lab(agents: number, papers: number, reviews: number): Graph {
  const nodes = Array.from({ length: agents }, (_, i) => node(`agent:${i}`, 'agent', 1))
  const edges: Edge[] = []
  for (let i = 0; i < papers; i++) {
    const seq = 10 + i * 10
    nodes.push(node(`paper:${i}`, 'paper', seq, { ref: String(i), says: i % 7 === 3 ? '12161' : i % 11 === 5 ? '12159' : '12160' }))
    edges.push(edge(`agent:${i % agents}`, `paper:${i}`, 'wrote', seq))
    for (const back of [3, 17, 40]) if (i >= back) edges.push(edge(`paper:${i}`, `paper:${i - back}`, 'cites', seq))
  }
  for (let r = 0; r < reviews; r++) {
    const seq = 10 + (r % papers) * 10 + 1 + Math.floor(r / papers)
    nodes.push(node(`review:${r}`, 'review', seq, { status: r % 5 ? 'ACCEPT' : 'REJECT', agent: String(r % agents) }))
    edges.push(edge(`review:${r}`, `paper:${r % papers}`, 'reviews', seq), edge(`agent:${r % agents}`, `review:${r}`, 'wrote', seq))
  }
  for (let a = 0; a < agents; a++) edges.push(edge(`agent:${a}`, 'paper:0', 'votes', 900 + a))
  return graphOf(nodes, edges)
}
const none: ReadonlySet<string> = new Set()
const laidOut = (graph: Graph, axis: 'derivation' | 'time'): Layout => {
  const { cards, edges, agents } = group(graph, none)
  return layout([...cards.values()], edges, agents, axis)
}
const overlap = (a: Place, b: Place) => a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height

describe('group', () => {
  const graph = lab(24, 42, 121)
  const grouped = group(graph, none)
  it('makes marks of reviews, on the card of their paper, and lines of what agents did', () => {
    expect(grouped.cards.size).toBe(42)
    expect(grouped.agents.length).toBe(24)
    const marks = [...grouped.cards.values()].flatMap((c) => c.marks)
    expect(marks.length).toBe(121)
    expect(grouped.cards.get('paper:0')?.marks.map((m) => m.id)).toEqual(['review:0', 'review:42', 'review:84'])
    expect(grouped.cards.get('paper:0')?.votes.length).toBe(24)
    expect(new Set(grouped.edges.map((e) => e.kind))).toEqual(new Set(['cites']))
    expect(grouped.lines.find((e) => e.from === 'agent:1' && e.to === 'paper:1' && e.kind === 'reviews')).toBeDefined()
  })
  it('leaves the graph of the server as it is, and a mark without a card a card of its own', () => {
    expect(graph.nodes.size).toBe(24 + 42 + 121)
    expect(group(graphOf([node('review:1', 'review', 3)], []), none).cards.size).toBe(1)
  })
  it('hides kinds, marks among them', () => {
    const few = group(graph, new Set(['review', 'agent']))
    expect(few.agents).toEqual([])
    expect([...few.cards.values()].every((c) => c.marks.length === 0)).toBe(true)
  })
  it('finds a card by its answer, its author and its reviewers', () => {
    const review = node('r', 'review', 2, { agent: 'agent-9' })
    const words = wordsOf({ node: node('p', 'paper', 1, { says: '12160', agent: 'agent-3' }), votes: [], marks: [review] })
    for (const word of ['12160', 'agent-3', 'agent-9']) expect(words).toContain(word)
  })
})

describe('closure', () => {
  const nodes = ['a', 'b', 'c', 'd', 'x'].map((id, i) => node(id, 'paper', i + 2))
  const source = node('s', 'source', 1)
  const graph = graphOf([...nodes, source, node('agent:0', 'agent', 1, { agent: '0' }), node('r', 'review', 9, { agent: '0' })], [
    edge('b', 'a', 'cites', 3), edge('c', 'b', 'revises', 4), edge('d', 'c', 'caused-by', 5), edge('s', 'a', 'supports', 6),
    edge('agent:0', 'a', 'wrote', 3), edge('agent:0', 'x', 'wrote', 4), edge('r', 'b', 'reviews', 9), edge('agent:0', 'r', 'wrote', 9),
  ])
  const grouped = group(graph, none)
  it('is what a card rests on and what rests on it, near and far, not by way of an agent', () => {
    expect(closure(graph, grouped, 'b')).toEqual({ up: new Set(['a', 's']), down: new Set(['c', 'd']) })
    expect(closure(graph, grouped, 'r')).toEqual(closure(graph, grouped, 'b'))
    expect([...narrowed(graph, grouped, 'b').cards.keys()].sort()).toEqual(['a', 'b', 'c', 'd', 's'])
  })
  it('of an agent is what it wrote and what it reviewed', () => {
    expect(closure(graph, grouped, 'agent:0').down).toEqual(new Set(['a', 'b', 'x']))
  })
  it('ends where edges go in a circle', () => {
    const round = graphOf([node('a', 'claim', 1), node('b', 'claim', 2)], [edge('a', 'b', 'attacks', 3), edge('b', 'a', 'attacks', 4)])
    expect(closure(round, group(round, none), 'a')).toEqual({ up: new Set(['b']), down: new Set(['b']) })
  })
})

describe('bands', () => {
  const card = (n: Node) => ({ node: n, marks: [], votes: [] })
  it('put together what says the same, and the answer with the paper that it came from', () => {
    const cards = [node('p', 'paper', 1, { says: '7' }), node('q', 'paper', 2, { says: '8' }), node('r', 'paper', 3, { says: '7' }),
      node('answer', 'answer', 4), node('person', 'person', 5)].map(card)
    const { of, order } = bandsOf(cards, [edge('answer', 'p', 'caused-by', 4)])
    expect([...of.values()]).toEqual(['7', '8', '7', '7', ''])
    expect(order).toEqual(['7', '8', ''])
  })
  it('are never many: what few say is one band', () => {
    const cards = Array.from({ length: 30 }, (_, i) => card(node(`p${i}`, 'paper', i + 1, { says: String(i < 10 ? 1 : i) })))
    const { order } = bandsOf(cards, [])
    expect(order.length).toBe(7)
    expect(order[0]).toBe('1')
    expect(order.at(-1)).toBe(other)
  })
})

for (const axis of ['derivation', 'time'] as const) {
  describe(`layout by ${axis}`, () => {
    for (const [agents, papers, reviews] of [[24, 42, 121], [60, 500, 1500]] as const) {
      const graph = lab(agents, papers, reviews)
      const begin = performance.now()
      const { places, bands } = laidOut(graph, axis)
      const took = performance.now() - begin
      it(`places ${papers} papers and ${agents} agents, and no review, without a wait`, () => {
        expect(places.size).toBe(agents + papers)
        expect(took).toBeLessThan(6000)
      })
      it(`lets no two of ${papers} overlap`, () => {
        const all = [...places.values()]
        expect(all.flatMap((a, i) => all.slice(i + 1).filter((b) => overlap(a, b)))).toEqual([])
      })
      it(`has a band for each answer of ${papers}, with all that say so inside and no other`, () => {
        expect(bands.map((b) => b.name)).toEqual(['12160', '12161', '12159'])
        for (const [id, p] of places) {
          const says = graph.nodes.get(id)?.says
          if (says) expect(bands.filter((b) => overlap(b, p)).map((b) => b.name)).toEqual([says])
        }
        expect(bands.reduce((sum, b) => sum + b.cards, 0)).toBe(papers)
      })
      it(`makes a sheet of ${papers}, not a thread`, () => {
        const all = [...places.values()]
        const wide = Math.max(...all.map((p) => p.x + p.width)) - Math.min(...all.map((p) => p.x))
        const high = Math.max(...all.map((p) => p.y + p.height)) - Math.min(...all.map((p) => p.y))
        expect(Math.max(wide / high, high / wide)).toBeLessThan(8)
      })
    }
    it('draws the same graph in the same way', () => {
      const graph = lab(6, 30, 60)
      expect(laidOut(graph, axis)).toEqual(laidOut(graph, axis))
    })
    it('leaves out edges to nodes that are not drawn', () => {
      expect(layout([{ node: node('a', 'paper', 1), marks: [], votes: [] }], [edge('a', 'gone', 'cites', 2)], [], axis).places.size).toBe(1)
    })
  })
}

describe('left to right', () => {
  const graph = lab(24, 42, 121)
  it('is derivation: the newer end of every edge is further right', () => {
    const small = lab(24, 30, 90)
    const { places } = laidOut(small, 'derivation')
    for (const e of group(small, none).edges) expect(places.get(e.to)?.x ?? 0).toBeLessThan(places.get(e.from)?.x ?? 0)
  })
  it('is time: none stands right of one that came later, and columns say when they begin', () => {
    const { places, ticks } = laidOut(graph, 'time')
    for (let i = 1; i < 42; i++) expect(places.get(`paper:${i - 1}`)?.x ?? 0).toBeLessThanOrEqual(places.get(`paper:${i}`)?.x ?? 0)
    expect(ticks.length).toBeGreaterThan(3)
    expect(ticks[0]?.time).toBe(timeOf(10))
    expect(ticks.map((t) => t.time)).toEqual(ticks.map((t) => t.time).sort())
  })
})

describe('levels', () => {
  it('show dots, then titles, then cards', () => {
    expect([0.1, 0.4, 1].map(levelOf)).toEqual(['dots', 'titles', 'cards'])
  })
  it('know what is out of the window', () => {
    const place = { x: 0, y: 0, width: 100, height: 50 }
    expect(outside([place], [10, 10, 1], 200, 100)).toBe(false)
    expect(outside([place], [10, 10, 2], 200, 100)).toBe(true)
  })
})
