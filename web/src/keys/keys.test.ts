import { describe, expect, it } from 'vitest'
import { act, jumps, numbered, ranked } from './keys'

const press = (key: string, more = {}) => ({ key, ctrlKey: false, metaKey: false, altKey: false, ...more })

describe('keys', () => {
  it('lead to places, those of a quest only within one', () => {
    expect(act(press('q'), true, undefined, false)).toEqual({ kind: 'go', to: '#/' })
    expect(act(press('t'), true, 'a b', false)).toEqual({ kind: 'go', to: '#/q/a%20b/timeline' })
    expect(act(press('o'), true, 'x', false)).toEqual({ kind: 'go', to: '#/q/x' })
    expect(act(press('t'), true, undefined, false)).toBeUndefined()
    expect(new Set(jumps.map((j) => j.key)).size).toBe(jumps.length)
  })
  it('are letters where somebody writes', () => {
    expect([act(press('j'), false, 'x', true), act(press('?'), false, 'x', true), act(press('k', { ctrlKey: true }), false, 'x', true)])
      .toEqual([undefined, undefined, { kind: 'find' }])
    expect(act(press('j', { ctrlKey: true }), false, 'x', false)).toBeUndefined()
  })
  it('find by all words, beginnings first', () => {
    const all = [{ kind: 'paper', name: 'On primes', to: '1' },
      { kind: 'quest', name: 'primes', to: '2' }, { kind: 'agent', name: 'agent-1', note: 'primes', to: '3' }]
    expect(ranked(all, 'primes', 9).map((f) => f.to)).toEqual(['2', '1', '3'])
    expect(ranked(all, 'primes paper', 9).map((f) => f.to)).toEqual(['1'])
    expect(ranked(all, '', 2).length).toBe(2)
  })
  it('know events by their numbers', () => {
    expect(numbered('#12', 'q', 40)?.to).toBe('#/q/q/timeline?seq=12')
    for (const found of [numbered('41', 'q', 40), numbered('0', 'q', 40), numbered('12', undefined, 40), numbered('x', 'q', 40)]) expect(found).toBeUndefined()
  })
})
