import type { Edge, Node } from '../../api/types'
import { smallKinds } from '../../society'

export type Place = { x: number; y: number; width: number; height: number }

const gapX = 84
const large = 150
const gapY = 14
const big = { width: 216, height: 62 }
const small = { width: 148, height: 32 }

export const sizeOf = (node: Pick<Node, 'kind'>) => (smallKinds.has(node.kind) ? small : big)

/**
 * layout draws a graph in columns from left to right, the older the further left. Every
 * edge is taken from its older end to its newer one, so there are no circles, and a
 * node's column is the longest way to it. Within a column nodes stand near what they
 * are joined with. The work grows with nodes plus edges, but for sorting.
 */
export function layout(nodes: readonly Node[], edges: readonly Edge[]): Map<string, Place> {
  const order = [...nodes].sort((a, b) => a.seq - b.seq)
  const rank = new Map(order.map((n, i) => [n.id, i]))
  const before: number[][] = order.map(() => [])
  const after: number[][] = order.map(() => [])
  for (const edge of edges) {
    const a = rank.get(edge.from)
    const b = rank.get(edge.to)
    if (a === undefined || b === undefined || a === b) continue
    before[Math.max(a, b)]?.push(Math.min(a, b))
    after[Math.min(a, b)]?.push(Math.max(a, b))
  }
  const columns = arrange(columnsOf(before, order), before, after)
  return places(wrap(columns, order.length), order, before, after)
}

function columnsOf(before: number[][], order: readonly Node[]): number[][] {
  const layer: number[] = []
  const columns: number[][] = []
  order.forEach((_, i) => {
    const at = Math.max(-1, ...(before[i] ?? []).map((p) => layer[p] ?? 0)) + 1
    layer[i] = at
    ;(columns[at] ??= []).push(i)
  })
  return columns
}

// A few sweeps to and fro: each column is sorted by where its neighbours stand.
function arrange(columns: number[][], before: number[][], after: number[][]): number[][] {
  const at: number[] = []
  const number = (column: number[]) => column.forEach((n, i) => { at[n] = (i + 0.5) / column.length })
  columns.forEach(number)
  const sort = (column: number[], near: number[][]) => {
    const key = new Map(column.map((n) => [n, mean((near[n] ?? []).map((m) => at[m] ?? 0)) ?? at[n] ?? 0]))
    column.sort((a, b) => (key.get(a) ?? 0) - (key.get(b) ?? 0) || a - b)
    number(column)
  }
  for (let sweep = 0; sweep < 4; sweep++) {
    for (const column of columns) sort(column, before)
    for (const column of [...columns].reverse()) sort(column, after)
  }
  for (const column of columns) sort(column, before)
  return columns
}

const mean = (values: number[]) => (values.length === 0 ? undefined : values.reduce((a, b) => a + b, 0) / values.length)

// A column of three hundred would be a thread: it is cut into several beside each other.
function wrap(columns: number[][], total: number): number[][] {
  const most = Math.max(12, Math.ceil(Math.sqrt(total) * 1.5))
  return columns.flatMap((column) => {
    const pieces = Math.ceil(column.length / most)
    const size = Math.ceil(column.length / pieces)
    return Array.from({ length: pieces }, (_, i) => column.slice(i * size, (i + 1) * size))
  })
}

function places(columns: number[][], order: readonly Node[], before: number[][], after: number[][]): Map<string, Place> {
  const y: number[] = []
  const high = (n: number) => sizeOf(order[n] ?? { kind: 'paper' }).height
  // No two overlap: each is pushed below the one above it, and the whole column is put
  // back to where it wants to be on average.
  const settle = (column: number[], wish: (n: number) => number) => {
    let free = -Infinity
    let shift = 0
    for (const n of column) {
      const want = wish(n)
      y[n] = Math.max(want, free)
      shift += y[n] - want
      free = y[n] + high(n) + gapY
    }
    for (const n of column) y[n] = (y[n] ?? 0) - shift / column.length
  }
  for (const column of columns) settle(column, () => 0)
  const middle = (n: number) => (y[n] ?? 0) + high(n) / 2
  const near = (n: number, sides: number[][][]) => {
    const at = mean(sides.flatMap((side) => (side[n] ?? []).map(middle)))
    return at === undefined ? (y[n] ?? 0) : at - high(n) / 2
  }
  // In a large graph wishes pull the columns apart until all of it is small: there they stand close.
  const rounds = order.length > large ? 0 : 6
  for (let round = 0; round < rounds; round++) {
    for (const column of columns) settle(column, (n) => near(n, [before]))
    for (const column of [...columns].reverse()) settle(column, (n) => near(n, [before, after]))
  }
  const out = new Map<string, Place>()
  let x = 0
  for (const column of columns) {
    const wide = Math.max(0, ...column.map((n) => sizeOf(order[n] ?? { kind: 'paper' }).width))
    for (const n of column) {
      const node = order[n]
      if (node) out.set(node.id, { x, y: y[n] ?? 0, ...sizeOf(node) })
    }
    x += wide + gapX
  }
  return out
}
