import { describe, expect, it } from 'vitest'
import { at, csv, pace, rowsOf, timeTicks, type Point } from './series'

describe('series', () => {
  const line: Point[] = [[0, 1], [10, 2], [20, 4]]
  it('has the value at a place or just before it', () => {
    expect([at(line, -1), at(line, 0), at(line, 9), at(line, 10), at(line, 99), at([], 1)]).toEqual([undefined, 1, 1, 2, 4, undefined])
  })
  it('ticks at times that people count in', () => {
    expect(timeTicks(90, 4)).toEqual([0, 30, 60, 90])
    expect(timeTicks(3600, 4)).toEqual([0, 900, 1800, 2700, 3600])
    expect(timeTicks(0.2, 4)).toEqual([0, 0.05, 0.1, 0.15, 0.2])
    expect(timeTicks(86_400 * 40, 4).length).toBeLessThan(7)
  })
  it('says how fast the limit comes, of the last two minutes', () => {
    const spent: Point[] = [[0, 0], [600_000, 1], [660_000, 1.65], [720_000, 2.3]]
    expect(pace(spent, 4.9)?.perMinute).toBeCloseTo(0.65)
    expect(pace(spent, 4.9)?.left).toBeCloseTo(240)
    expect(pace(spent)?.left).toBeUndefined()
    expect(pace([[0, 1]], 2)).toBeUndefined()
    expect(pace([[0, 1], [5000, 1]], 2)).toBeUndefined()
  })
  it('writes tables that no program takes for formulas', () => {
    expect(csv([['a', 'b'], ['=1+1', 2], ['x "y", z', -3]])).toBe('a,b\r\n\'=1+1,2\r\n"x ""y"", z",-3\r\n')
  })
  it('puts curves into one table, thinned where it is long', () => {
    expect(rowsOf([{ name: 'a', points: line }, { name: 'b', points: [[5, 7]] }], 100).map((r) => [r.x, ...r.values]))
      .toEqual([[0, 1, undefined], [5, 1, 7], [10, 2, 7], [20, 4, 7]])
    const long: Point[] = Array.from({ length: 1000 }, (_, i) => [i, i])
    const rows = rowsOf([{ name: 'a', points: long }], 50)
    expect([rows.length <= 51, rows[0]?.x, rows.at(-1)?.x]).toEqual([true, 0, 999])
  })
})
