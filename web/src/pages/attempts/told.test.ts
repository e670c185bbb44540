import { expect, test } from 'vitest'
import type { Attempt, AttemptTry, Sight } from '../../api/types'
import { pictures, share, surprises, tierName, tone } from './told'

const sight = (hash: string): Sight => ({ picture: { hash, size: 1 }, text: {}, accessibility: {}, output: {}, errors: {}, exit: 0, lines: [], files: [] })

const tried = (seq: number, surprise?: number, unforeseen = 0): AttemptTry =>
  ({ seq, steps: [], expect: [], unforeseen, changes: [], surprise, before: sight('a'), after: sight(`b${seq}`) })

const attempt = (n: number, tries: AttemptTry[]): Attempt =>
  ({ attempt: n, seq: n, last: n, maker: 'maker', intent: '', path: '', tree: '', state: 'passed', stories: [], tiers: [], marks: [], tries })

test('surprise is told in the order of the predictions, and what is not measured is left out', () => {
  const points = surprises('q', { attempts: [attempt(1, [tried(9, 250_000, 2)]), attempt(2, [tried(5, 10_000), tried(12)])] })
  expect(points.map((p) => [p.name, p.value, p.shape, p.href])).toEqual([
    ['attempt 2, event 5', '0.010', 'full', '#/q/q/attempts?attempt=2'],
    ['attempt 1, event 9', '0.250', 'cross', '#/q/q/attempts?attempt=1'],
  ])
})

test('each picture is shown once', () => {
  expect(pictures(attempt(1, [tried(3), tried(4)])).map((p) => p.hash)).toEqual(['a', 'b3', 'b4'])
})

test('what cannot be told is neither good nor bad', () => {
  expect(['passed', 'failed', 'unavailable', 'waived', 'assertion', undefined].map(tone)).toEqual(['good', 'bad', 'warn', 'warn', 'bad', 'live'])
  expect(tierName(3)).toBe('Tier 3: stories')
  expect(tierName(7)).toBe('Tier 7')
  expect(share(1000)).toBe('1.00')
})
