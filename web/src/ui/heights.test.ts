import { describe, expect, it } from 'vitest'
import { Heights } from './heights'

const of = (guess: number, first: number, count: number) => {
  const heights = new Heights(guess)
  heights.hold(first, count)
  return heights
}

describe('Heights', () => {
  it('takes a guess for what was not measured', () => {
    const h = of(100, 0, 10)
    h.set(2, 30)
    expect([h.top(2), h.top(3), h.total]).toEqual([200, 230, 930])
  })
  it('finds the row that covers a place, and the ends for what is beyond them', () => {
    const h = of(100, 0, 10)
    h.set(0, 5)
    expect([-50, 0, 4.9, 5, 104.9, 105, 1e9].map((p) => h.at(p))).toEqual([0, 0, 0, 1, 1, 2, 9])
  })
  it('says only of a measure that moves something that it does', () => {
    const h = of(100, 0, 2)
    expect([h.set(0, 100), h.set(0, 101), h.set(0, 101.2), h.set(7, 1)]).toEqual([false, true, false, false])
  })
  it('keeps what it measured when rows come in front and behind', () => {
    const h = of(100, 0, 3)
    h.set(1, 40)
    h.hold(-2, 7)
    expect([h.top(-2), h.top(1), h.top(2), h.total]).toEqual([0, 300, 340, 640])
    expect(h.at(339)).toBe(1)
  })
  it('reaches every one of a million rows within what a browser can scroll', () => {
    const h = of(120, 0, 1_000_000)
    expect(h.total).toBeLessThanOrEqual(16_000_000)
    for (const row of [0, 1, 499_999, 999_999]) expect(h.at(h.top(row))).toBe(row)
  })
})
