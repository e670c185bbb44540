import { step } from './scale'

/** Point is a value at a place: a time in milliseconds, or a number. */
export type Point = [number, number]

/** Series is one curve. A stepped one stays as it is until it changes. */
export type Series = { name: string; points: Point[]; stepped?: boolean; /** ahead is what would come, drawn thin */ ahead?: boolean }

/** at is the value of a curve at a place, or just before it; undefined before its first. */
export function at(points: readonly Point[], x: number): number | undefined {
  let low = 0
  let high = points.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((points[middle]?.[0] ?? Infinity) <= x) low = middle + 1
    else high = middle
  }
  return points[low - 1]?.[1]
}

const spans = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400]

/** timeTicks are round times within so many seconds, about so many of them. */
export function timeTicks(seconds: number, about: number): number[] {
  const by = seconds < 1 ? step(seconds, about) : (spans.find((s) => seconds / s <= about) ?? step(seconds / 86_400, about) * 86_400)
  return Array.from({ length: Math.floor(seconds / by + 1e-9) + 1 }, (_, i) => Number((i * by).toPrecision(12)))
}

/** Pace is how fast something is used up: so much a minute, and in how many seconds the limit is reached. */
export type Pace = { perMinute: number; left?: number }

const look = 120_000

/** pace looks at the last two minutes of a curve that only grows. Undefined while there is too little to say. */
export function pace(points: readonly Point[], limit?: number): Pace | undefined {
  const last = points.at(-1)
  const from = points.find((p) => p[0] >= (last?.[0] ?? 0) - look)
  if (!last || !from || last[0] - from[0] < 1000 || last[1] <= from[1]) return undefined
  const perMinute = ((last[1] - from[1]) / (last[0] - from[0])) * 60_000
  return { perMinute, left: limit === undefined || limit <= last[1] ? undefined : ((limit - last[1]) / perMinute) * 60 }
}

// A table that a program reads takes a cell that begins so for a formula.
const cell = (value: string | number) => {
  const text = typeof value === 'string' && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value)
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** csv writes rows as RFC 4180 has it. */
export const csv = (rows: readonly (string | number)[][]): string => rows.map((r) => r.map(cell).join(',')).join('\r\n') + '\r\n'

/** rowsOf are curves as a table: a row for each place at which one of them has a value, at most so many. */
export function rowsOf(series: readonly Series[], most: number): { x: number; values: (number | undefined)[] }[] {
  const places = [...new Set(series.flatMap((s) => s.points.map((p) => p[0])))].sort((a, b) => a - b)
  const by = Math.max(1, Math.ceil(places.length / most))
  return places.filter((_, i) => i % by === 0 || i === places.length - 1).map((x) => ({ x, values: series.map((s) => at(s.points, x)) }))
}
