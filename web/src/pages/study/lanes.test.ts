import { describe, expect, it } from 'vitest'
import type { BranchNode, EventNode, StudyEdge } from '../../api/types'
import { matches } from '../../ui/find'
import { chips, lanes, lineage } from './lanes'

const branch = (ref: string, parent: string | undefined, seq: number) => ({ ref, parent_ref: parent, seq, label: ref }) as unknown as BranchNode
const event = (id: string, on: string, seq: number) => ({ selection_ref: id, branch: on, seq, title: id }) as unknown as EventNode
const edge = (from: string, to: string, seq: number): StudyEdge => ({ id: `${from}>${to}`, from, to, kind: 'evidence', seq })

const tree = [
  branch('main', undefined, 1), branch('run/b', 'idea/b', 9), branch('idea/a', 'main', 2), branch('idea/b', 'main', 5), branch('run/a', 'idea/a', 7),
]

describe('lanes', () => {
  it('puts children under their parents, in the order in which they came', () => {
    expect(lanes(tree, new Set()).map((l) => [l.ref, l.depth])).toEqual([['main', 0], ['idea/a', 1], ['run/a', 2], ['idea/b', 1], ['run/b', 2]])
  })
  it('draws a line past the rows between a parent and its later children', () => {
    const rows = lanes(tree, new Set())
    expect(rows.map((l) => l.rails)).toEqual([[], [], [1], [], []])
    expect(rows.map((l) => l.last)).toEqual([true, false, true, true, true])
  })
  it('leaves out what is below a folded one, and says how many', () => {
    const rows = lanes(tree, new Set(['main']))
    expect(rows.map((l) => l.ref)).toEqual(['main'])
    expect(rows[0]).toMatchObject({ folded: true, children: 4 })
  })
  it('folds nothing that has nothing below it', () => {
    expect(lanes(tree, new Set(['run/a'])).find((l) => l.ref === 'run/a')?.folded).toBe(false)
  })
  it('shows a branch whose parent is not there, or that is its own, at the left', () => {
    expect(lanes([branch('x', 'gone', 1), branch('y', 'y', 2)], new Set()).map((l) => l.depth)).toEqual([0, 0])
  })
  it('focuses on where one came from and what came from it', () => {
    expect([...lineage(tree, 'idea/b')].sort()).toEqual(['idea/b', 'main', 'run/b'])
    expect(lanes(tree, new Set(), lineage(tree, 'idea/b')).map((l) => l.ref)).toEqual(['main', 'idea/b', 'run/b'])
  })
})

describe('chips', () => {
  // Two thousand artifacts on sixty branches, each with what it rests on.
  const branches = [branch('main', undefined, 0), ...Array.from({ length: 59 }, (_, i) => branch(`run/${i}`, 'main', i + 1))]
  const events = Array.from({ length: 2000 }, (_, i) => event(`e${i}`, i % 60 === 0 ? 'main' : `run/${(i % 60) - 1}`, 100 + i))
  const edges = events.flatMap((e, i) => (i < 7 ? [] : [edge(`e${i - 7}`, e.selection_ref, e.seq)]))
  const rows = lanes(branches, new Set())
  const drawn = chips(events, edges, rows)

  it('gives each a place of its own', () => {
    expect(drawn.chips.length).toBe(2000)
    expect(new Set(drawn.chips.map((c) => `${c.row}/${c.column}`)).size).toBe(2000)
    expect(Math.max(...drawn.chips.map((c) => c.column))).toBe(drawn.columns - 1)
  })
  it('has every edge go to the right', () => {
    const column = new Map(drawn.chips.map((c) => [c.id, c.column]))
    for (const e of edges) expect(column.get(e.from)).toBeLessThan(column.get(e.to) ?? 0)
  })
  it('leaves out the events of branches that are folded away', () => {
    const few = chips(events, edges, lanes(branches, new Set(['main'])))
    expect(few.chips.every((c) => c.event.branch === 'main')).toBe(true)
    expect(few.chips.length).toBe(34)
  })
})

describe('matches', () => {
  const words = (t: string) => t
  it('wants every word, in any order and case', () => {
    expect([...(matches(['Holt with damping', 'naive'], 'DAMP holt', words, words) ?? [])]).toEqual(['Holt with damping'])
    expect(matches(['a'], '  ', words, words)).toBeUndefined()
  })
})
