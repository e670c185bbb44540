import { describe, expect, it } from 'vitest'
import type { Recorded } from '../../api/types'
import { series } from './results'

const result = (id: string, seq: number, kind: string, verdict: string | undefined, value: string, more: object = {}) => ({
  id, seq, kind, verdict, title: id, branch: `run/${id}`,
  metrics: [{ name: 'mae', value, unit: 'kWh', direction: 'lower', tolerance: '0.05', data: 'x', ...more }],
}) as unknown as Recorded
const link = (id: string) => `#${id}`

describe('series', () => {
  it('has a point for each result, in order, as its figure is written', () => {
    const [s] = series([result('b', 2, 'run', 'verified', '1.80'), result('a', 1, 'baseline', 'verified', '2.10')], link)
    expect(s?.points.map((p) => [p.name, p.value, p.shape, p.href])).toEqual([['a', '2.10', 'full', '#a'], ['b', '1.80', 'full', '#b']])
    expect(s?.level).toEqual({ name: 'baseline run/a', value: '2.10', tolerance: '0.05' })
  })
  it('calls best only what was verified, in the direction that counts', () => {
    const [low] = series([
      result('a', 1, 'baseline', 'verified', '2.10'), result('b', 2, 'run', 'differs', '0.1'), result('c', 3, 'run', 'verified', '1.9'),
    ], link)
    expect(low?.points.map((p) => p.best ?? false)).toEqual([false, false, true])
    const [high] = series(['1', '3', '2'].map((v, i) => result(`r${i}`, i, 'run', 'verified', v, { direction: 'higher' })), link)
    expect(high?.points.map((p) => p.best ?? false)).toEqual([false, true, false])
  })
  it('calls no slice the best: it answers a question about another', () => {
    const [s] = series([result('a', 1, 'run', 'verified', '2'), { ...result('b', 2, 'run', 'verified', '1'), slice: 'noise' } as Recorded], link)
    expect(s?.points.map((p) => p.best ?? false)).toEqual([true, false])
  })
  it('keeps figures apart that do not mean the same', () => {
    expect(series([result('a', 1, 'run', 'verified', '1'), result('b', 2, 'run', 'verified', '1', { data: 'y' })], link).length).toBe(2)
    expect(series([result('a', 1, 'run', 'verified', '1'), result('b', 2, 'run', 'verified', '1', { unit: 'MWh' })], link).length).toBe(2)
  })
  it('takes the last baseline that was verified before one that was not', () => {
    const [s] = series([result('a', 1, 'baseline', 'verified', '2'), result('b', 2, 'baseline', 'failed', '3')], link)
    expect(s?.level?.value).toBe('2')
  })
  it('gives what is not checked another shape, and says why', () => {
    const [s] = series([{ ...result('a', 1, 'run', 'unchecked', '2'), why: 'no computer' } as Recorded], link)
    expect(s?.points[0]).toMatchObject({ shape: 'hollow' })
    expect(s?.points[0]?.said).toContain('no computer')
  })
})
