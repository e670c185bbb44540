import { describe, expect, it } from 'vitest'
import { moved } from './lanes'

describe('a stretch of time', () => {
  it('is zoomed and moved by keys, and stays within the quest', () => {
    expect(moved('+', 0, 1000, 1000)).toEqual({ from: 250, to: 750 })
    expect(moved('-', 250, 750, 1000)).toEqual({ from: 0, to: 1000 })
    expect(moved('ArrowRight', 0, 500, 1000)).toEqual({ from: 100, to: 600 })
    expect(moved('ArrowRight', 450, 950, 1000)).toEqual({ from: 500, to: 1000 })
    expect(moved('ArrowLeft', 50, 550, 1000)).toEqual({ from: 0, to: 500 })
    expect(moved('0', 400, 500, 1000)).toEqual({ from: 0, to: 1000 })
    expect(moved('x', 400, 500, 1000)).toBeUndefined()
    expect(moved('+', 5, 6, 1000)).toEqual({ from: 5, to: 6 })
  })
})
