// Browsers stop at some tens of millions of pixels: what was not measured yet is taken
// to be so low that all of it together stays far below.
const tallest = 16_000_000

/**
 * Heights knows where rows of different heights stand: those that were measured exactly,
 * the others by a guess. Rows are numbered from first on, which may be below nought, so
 * that rows can be put in front of others without giving those another number.
 */
export class Heights {
  private sizes = new Float64Array(0)
  private measured = new Uint8Array(0)
  private tops = new Float64Array(1)
  private stale = false
  first = 0

  constructor(private readonly guess: number) {}

  get count(): number { return this.sizes.length }
  get total(): number { return this.sums()[this.count] ?? 0 }

  /** hold makes it the heights of other rows; those that were there before keep theirs. */
  hold(first: number, count: number): void {
    if (first === this.first && count === this.count) return
    const guess = Math.min(this.guess, tallest / Math.max(1, count))
    const sizes = new Float64Array(count)
    const measured = new Uint8Array(count)
    for (let i = 0; i < count; i++) {
      const old = first + i - this.first
      const known = this.measured[old] === 1
      sizes[i] = known ? (this.sizes[old] ?? guess) : guess
      measured[i] = known ? 1 : 0
    }
    Object.assign(this, { sizes, measured, first, stale: true })
  }

  /** set takes a measure, and reports whether it moves anything. */
  set(row: number, height: number): boolean {
    const i = row - this.first
    if (i < 0 || i >= this.count) return false
    this.measured[i] = 1
    if (Math.abs((this.sizes[i] ?? 0) - height) < 0.5) return false
    this.sizes[i] = height
    this.stale = true
    return true
  }

  /** top is where a row begins, from the begin of the first. Behind the last it is the end. */
  top(row: number): number {
    return this.sums()[Math.min(this.count, Math.max(0, row - this.first))] ?? 0
  }

  /** at is the row that covers a place; what is above or below all is the first or the last. */
  at(place: number): number {
    const tops = this.sums()
    let low = 0
    let high = Math.max(0, this.count - 1)
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if ((tops[middle] ?? 0) <= place) low = middle
      else high = middle - 1
    }
    return this.first + low
  }

  private sums(): Float64Array {
    if (!this.stale) return this.tops
    this.tops = new Float64Array(this.count + 1)
    let sum = 0
    for (let i = 0; i < this.count; i++) {
      sum += this.sizes[i] ?? 0
      this.tops[i + 1] = sum
    }
    this.stale = false
    return this.tops
  }
}
