import { describe, expect, it } from 'vitest'
import type { Edge, Node } from '../../api/types'
import { layout } from './layout'

const node = (id: string, kind: Node['kind'], seq: number): Node => ({ id, kind, label: id, seq, last: seq, changes: [] })
const edge = (from: string, to: string, kind: Edge['kind'], seq: number): Edge => ({ id: `${from}>${to}`, from, to, kind, seq })

// A lab of sixty agents and five hundred papers, each with three reviews and citations.
function lab(): { nodes: Node[]; edges: Edge[] } {
  const nodes = Array.from({ length: 60 }, (_, i) => node(`agent:${i}`, 'agent', 1))
  const edges: Edge[] = []
  for (let i = 0; i < 500; i++) {
    const seq = 10 + i * 10
    nodes.push(node(`paper:${i}`, 'paper', seq))
    edges.push(edge(`agent:${i % 60}`, `paper:${i}`, 'wrote', seq))
    for (const back of [3, 17, 40]) if (i >= back) edges.push(edge(`paper:${i}`, `paper:${i - back}`, 'cites', seq))
    for (let r = 1; r <= 3; r++) {
      nodes.push(node(`review:${seq + r}`, 'review', seq + r))
      edges.push(edge(`review:${seq + r}`, `paper:${i}`, 'reviews', seq + r))
    }
  }
  return { nodes, edges }
}

describe('layout', () => {
  const { nodes, edges } = lab()
  const begin = performance.now()
  const places = layout(nodes, edges)
  const took = performance.now() - begin

  it('lays five hundred papers with their reviews out without a wait', () => {
    expect(places.size).toBe(nodes.length)
    expect(took).toBeLessThan(6000)
  })
  it('lets no two nodes overlap', () => {
    const columns = new Map<number, { y: number; height: number }[]>()
    for (const p of places.values()) columns.set(p.x, [...(columns.get(p.x) ?? []), p])
    for (const column of columns.values()) {
      column.sort((a, b) => a.y - b.y)
      for (let i = 1; i < column.length; i++) expect((column[i]?.y ?? 0) - (column[i - 1]?.y ?? 0)).toBeGreaterThanOrEqual(column[i - 1]?.height ?? 0)
    }
  })
  it('puts the newer end of every edge further right', () => {
    const seq = new Map(nodes.map((n) => [n.id, n.seq]))
    for (const e of edges) {
      const [old, young] = (seq.get(e.from) ?? 0) < (seq.get(e.to) ?? 0) ? [e.from, e.to] : [e.to, e.from]
      expect(places.get(old)?.x ?? 0).toBeLessThan(places.get(young)?.x ?? 0)
    }
  })
  it('draws the same graph in the same way', () => {
    expect([...layout(nodes, edges)]).toEqual([...places])
  })
  it('leaves out edges to nodes that are not drawn', () => {
    expect(layout([node('a', 'paper', 1)], [edge('a', 'gone', 'cites', 2)]).size).toBe(1)
  })
})
