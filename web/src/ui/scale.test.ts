import { describe, expect, it } from 'vitest'
import { digits, figure, linear, nearest, step } from './scale'

describe('scale', () => {
  it('has round steps', () => {
    expect([step(10, 5), step(10, 4), step(0.3, 3), step(7e6, 4), step(0, 4), step(Infinity, 4)]).toEqual([2, 5, 0.1, 2e6, 1, 1])
  })
  it('holds all values between its ends, and its ticks are exact', () => {
    const s = linear([0.12, 0.34], 100, 0, 4)
    expect(s.ticks).toEqual([0.1, 0.2, 0.3, 0.4])
    for (const v of [0.12, 0.34]) expect(s.at(v)).toBeGreaterThan(0)
    expect([s.at(s.low), s.at(s.high)]).toEqual([100, 0])
  })
  it('puts one value into the middle, and nought too', () => {
    expect(linear([5], 0, 100).at(5)).toBeCloseTo(50)
    expect(linear([0], 0, 100).at(0)).toBeCloseTo(50)
    expect(linear([], 0, 100).ticks.length).toBeGreaterThan(1)
  })
  it('leaves out what is no number', () => {
    expect(linear([NaN, 1, 2], 0, 1).low).toBe(1)
  })
  it('shows as many places as tell ticks apart', () => {
    expect([digits([0.1, 0.15]), digits([0, 0.1]), digits([0, 5]), digits([0, 200])]).toEqual([2, 1, 0, 0])
    expect([figure(0.15, 2), figure(1200, 0), figure(3e7, 0), figure(-2, 0)]).toEqual(['0.15', '1,200', '3.0e+7', '-2'])
  })
  it('finds the nearest place', () => {
    expect([nearest([10, 20, 40], 26), nearest([10, 20, 40], 100), nearest([], 3)]).toEqual([1, 2, -1])
  })
})
