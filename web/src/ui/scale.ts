/** Scale maps values onto pixels; ticks are round values within it. */
export type Scale = { at: (value: number) => number; ticks: number[]; low: number; high: number }

/** step is a round distance that divides a span into about so many parts: 1, 2 or 5 times a power of ten. */
export function step(span: number, parts: number): number {
  if (!(span > 0) || !Number.isFinite(span)) return 1
  const raw = span / Math.max(1, parts)
  const power = 10 ** Math.floor(Math.log10(raw))
  const factor = raw / power
  return power * (factor > 5 ? 10 : factor > 2 ? 5 : factor > 1 ? 2 : 1)
}

/** linear makes a scale of values between two places. Values that are all the same stand in the middle. */
export function linear(values: readonly number[], from: number, to: number, parts = 4): Scale {
  const known = values.filter(Number.isFinite)
  let low = known.length > 0 ? Math.min(...known) : 0
  let high = known.length > 0 ? Math.max(...known) : 1
  if (low === high) {
    const room = Math.abs(low) * 0.1 || 1
    low -= room
    high += room
  }
  const by = step(high - low, parts)
  const first = Math.floor(low / by)
  const last = Math.ceil(high / by)
  low = first * by
  high = last * by
  // A tick is a multiple, not a sum: sums of 0.1 are not 0.3.
  const ticks = Array.from({ length: last - first + 1 }, (_, i) => Number(((first + i) * by).toPrecision(12)))
  return { at: (value) => from + ((value - low) / (high - low)) * (to - from), ticks, low, high }
}

/** digits is how many places behind the point tell neighbouring ticks apart. */
export function digits(ticks: readonly number[]): number {
  const by = (ticks[1] ?? 1) - (ticks[0] ?? 0)
  return Math.max(0, Math.min(9, -Math.floor(Math.log10(Math.abs(by) || 1) + 1e-9)))
}

/** figure is a tick in words as short as it is exact enough. */
export function figure(value: number, places: number): string {
  const size = Math.abs(value)
  if (size >= 1e6 || (size > 0 && size < 1e-6)) return value.toExponential(1)
  return value.toLocaleString('en-US', { minimumFractionDigits: places, maximumFractionDigits: places })
}

/** nearest is the place of the value that is next to x. */
export function nearest(places: readonly number[], x: number): number {
  let best = -1
  places.forEach((p, i) => { if (best < 0 || Math.abs(p - x) < Math.abs((places[best] ?? 0) - x)) best = i })
  return best
}
