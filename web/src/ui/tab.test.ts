import { expect, test } from 'vitest'
import { iconOf, titleOf } from './tab'

test('a tab says how its quest stands, and first of all that somebody is asked', () => {
  expect(titleOf('primes · Lyceum', 'running', 0)).toBe('▶ primes · Lyceum')
  expect(titleOf('primes · Lyceum', 'finished', 0)).toBe('✓ primes · Lyceum')
  expect(titleOf('primes · Lyceum', 'failed', 0)).toBe('✕ primes · Lyceum')
  expect(titleOf('primes · Lyceum', 'running', 2)).toBe('(2) primes · Lyceum')
  expect(titleOf('primes · Lyceum', 'created', 0)).toBe('primes · Lyceum')
  expect(titleOf('primes · Lyceum', undefined, 0)).toBe('primes · Lyceum')
})

test('each standing has an icon of its own', () => {
  const all = [iconOf('running', 0), iconOf('finished', 0), iconOf('failed', 0), iconOf('paused', 0), iconOf('running', 1), iconOf('created', 0)]
  expect(new Set(all).size).toBe(all.length)
  expect(iconOf(undefined, 0)).toBe('./icon.svg')
})
