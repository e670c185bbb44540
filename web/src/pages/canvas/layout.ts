import type { Edge, Node } from '../../api/types'
import { smallKinds } from '../../society'
import { bandsOf } from './bands'
import type { Card } from './group'

export type Place = { x: number; y: number; width: number; height: number }
/** A Band is where those stand that say the same. */
export type Band = Place & { name: string; cards: number }
/** A Tick is when a column of the time begins. */
export type Tick = { x: number; time: string }
export type Axis = 'derivation' | 'time'
/** heading is how much room the name of a band has. */
export type Layout = { places: Map<string, Place>; bands: Band[]; ticks: Tick[]; heading: number }

const gapX = 48
const closeX = 20
const gapY = 14
const inset = 18
const betweenBands = 40
const large = 150
const tall = { width: 232, height: 88 }
const big = { width: 216, height: 62 }
const small = { width: 148, height: 32 }
const agentSize = { width: 104, height: 24 }

export const sizeOf = ({ node, marks }: Card) => (smallKinds.has(node.kind) ? small : node.ref || node.says || marks.length > 0 ? tall : big)

/**
 * layout draws cards in columns from left to right. By derivation, every edge is taken from its older end to its
 * newer one, so there are no circles, and a card's column is the longest way to it. By time, a column is a stretch of
 * it: none stands right of one that came after it. Within a column cards stand near what they are joined with, and
 * those that say the same stand in a band of their own. Agents stand before all of it. The work grows with cards plus
 * edges, but for sorting.
 */
export function layout(cards: readonly Card[], edges: readonly Edge[], agents: readonly Node[], axis: Axis): Layout {
  const order = [...cards].sort((a, b) => a.node.seq - b.node.seq)
  const joins = joinsOf(order, edges)
  const columns = axis === 'time' ? stretches(order.length) : longest(joins.before)
  arrange(columns, joins)
  const { of, order: names } = bandsOf(order, edges)
  const sheet = stack(columns, names, (n) => of.get(order[n]?.node.id ?? '') ?? '', order)
  if (names.length < 2 && order.length <= large && axis === 'derivation') settle(sheet.pieces, joins, sheet.spots)
  const places = new Map<string, Place>()
  order.forEach((card, n) => { const spot = sheet.spots[n]; if (spot) places.set(card.node.id, spot) })
  rail(agents, sheet.height, axis === 'time' ? headingOf(order.length) : 0, places)
  const ticks = axis !== 'time' ? [] : columns.map((column, c) => ({ x: sheet.left[c] ?? 0, time: order[Math.min(...column)]?.node.time ?? '' }))
  return { places, bands: sheet.bands, ticks, heading: headingOf(order.length) }
}

type Joins = { before: number[][]; after: number[][] }

function joinsOf(order: readonly Card[], edges: readonly Edge[]): Joins {
  const rank = new Map(order.map((c, i) => [c.node.id, i]))
  const before: number[][] = order.map(() => [])
  const after: number[][] = order.map(() => [])
  for (const edge of edges) {
    const a = rank.get(edge.from)
    const b = rank.get(edge.to)
    if (a === undefined || b === undefined || a === b) continue
    before[Math.max(a, b)]?.push(Math.min(a, b))
    after[Math.min(a, b)]?.push(Math.max(a, b))
  }
  return { before, after }
}

function longest(before: number[][]): number[][] {
  const layer: number[] = []
  const columns: number[][] = []
  before.forEach((near, i) => {
    const at = Math.max(-1, ...near.map((p) => layer[p] ?? 0)) + 1
    layer[i] = at
    ;(columns[at] ??= []).push(i)
  })
  // A chain of two hundred would be a thread: then steps that follow each other share a column.
  const most = 4 + Math.ceil(1.2 * Math.sqrt(before.length))
  if (columns.length <= most) return columns
  const out: number[][] = Array.from({ length: most }, () => [])
  columns.forEach((column, at) => out[Math.floor((at * most) / columns.length)]?.push(...column))
  return out
}

// A large graph is seen from afar, and the names of its bands are read from there too.
const headingOf = (total: number) => (total > large ? 190 : 76)

// How many stand in a column grows by steps: a live canvas is seldom laid out in another way.
const highest = (total: number) => [6, 9, 14, 20, 30, 45, 70].find((n) => n * n * 2 >= total) ?? 100

function stretches(total: number): number[][] {
  const high = highest(total)
  return Array.from({ length: Math.ceil(total / high) }, (_, c) => Array.from({ length: Math.min(high, total - c * high) }, (_x, i) => c * high + i))
}

// A few sweeps to and fro: each column is sorted by where its neighbours stand.
function arrange(columns: number[][], { before, after }: Joins) {
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
}

const mean = (values: number[]) => (values.length === 0 ? undefined : values.reduce((a, b) => a + b, 0) / values.length)

type Sheet = { spots: Place[]; pieces: number[][]; bands: Band[]; left: number[]; height: number }

// Band below band; what one has in a column is cut into several beside each other where it would be a thread.
function stack(columns: number[][], names: readonly string[], bandOf: (n: number) => string, order: readonly Card[]): Sheet {
  const heading = headingOf(order.length)
  const size = (n: number) => { const card = order[n]; return card ? sizeOf(card) : big }
  const most = highest(order.length)
  const cells = names.map((name) => columns.map((column) => cut(column.filter((n) => bandOf(n) === name), most)))
  const wide = (pieces: number[][]) => pieces.reduce((sum, p, i) => sum + Math.max(0, ...p.map((n) => size(n).width)) + (i > 0 ? closeX : 0), 0)
  const left: number[] = []
  let right = 0
  columns.forEach((_, c) => {
    left[c] = right
    right += Math.max(0, ...cells.map((row) => wide(row[c] ?? []))) + gapX
  })
  const sheet: Sheet = { spots: [], pieces: [], bands: [], left, height: 0 }
  names.forEach((name, b) => {
    const top = name ? sheet.height + heading : sheet.height
    let bottom = top
    cells[b]?.forEach((pieces, c) => {
      let x = left[c] ?? 0
      for (const piece of pieces) {
        let y = top
        for (const n of piece) { sheet.spots[n] = { x, y, ...size(n) }; y += size(n).height + gapY }
        bottom = Math.max(bottom, y - gapY)
        x += Math.max(...piece.map((n) => size(n).width)) + closeX
        sheet.pieces.push(piece)
      }
    })
    if (name) sheet.bands.push({ name, cards: (cells[b] ?? []).flat(2).filter((n) => order[n]?.node.says).length,
      x: -inset, y: sheet.height, width: right - gapX + 2 * inset, height: bottom + inset - sheet.height })
    sheet.height = bottom + (name ? inset : 0) + betweenBands
  })
  sheet.height -= betweenBands
  return sheet
}

function cut(column: number[], most: number): number[][] {
  const pieces = Math.ceil(column.length / most)
  const each = Math.ceil(column.length / pieces)
  return Array.from({ length: pieces }, (_, i) => column.slice(i * each, (i + 1) * each))
}

// In a small graph of one band each card moves to where it wants to be. No two overlap: each is pushed below the one
// above it, and the whole column is put back to where it wants to be on average.
function settle(pieces: number[][], { before, after }: Joins, spots: Place[]) {
  const middle = (n: number) => (spots[n]?.y ?? 0) + (spots[n]?.height ?? 0) / 2
  const push = (piece: number[], sides: number[][][]) => {
    const wishes = piece.map((n) => (mean(sides.flatMap((side) => (side[n] ?? []).map(middle))) ?? middle(n)) - (spots[n]?.height ?? 0) / 2)
    let free = -Infinity
    let shift = 0
    piece.forEach((n, i) => {
      const spot = spots[n]
      if (!spot) return
      spot.y = Math.max(wishes[i] ?? 0, free)
      shift += spot.y - (wishes[i] ?? 0)
      free = spot.y + spot.height + gapY
    })
    for (const n of piece) { const spot = spots[n]; if (spot) spot.y -= shift / piece.length }
  }
  for (let round = 0; round < 6; round++) {
    for (const piece of pieces) push(piece, [before])
    for (const piece of [...pieces].reverse()) push(piece, [before, after])
  }
}

// Agents stand before everything, in as many columns as the rest is high.
function rail(agents: readonly Node[], height: number, above: number, places: Map<string, Place>) {
  const step = agentSize.height + 8
  const rows = Math.max(8, Math.floor(height / step))
  const columns = Math.ceil(agents.length / rows)
  const top = Math.min(0, ...[...places.values()].map((p) => p.y)) - above
  agents.forEach((agent, i) => {
    const column = Math.floor(i / rows)
    places.set(agent.id, { x: -inset - gapX - (columns - column) * (agentSize.width + 8), y: top + (i % rows) * step, ...agentSize })
  })
}
