import { describe, expect, it } from 'vitest'
import type { Summary } from '../../api/types'
import { agreed, agreement, lined, matches, sorted, total } from './table'

const quest = (name: string, more: Partial<Summary> = {}) => ({
  name, society: 'lab', status: 'finished', running: false, models: ['m'], agents: 3, cost_usd: '0', events: 1, ...more,
}) as Summary

const verdict = (same: number, otherwise: number, votes: number) =>
  ({ value: '7', candidate: false, agree: '', sure: 'high', why: '', same, otherwise, votes, voters: 4 }) as Summary['verdict']

describe('the list of quests', () => {
  const all = [quest('b', { cost_usd: '2' }), quest('a10', { running: true, society: 'solo' }), quest('a9', { cost_usd: null, cost_at_least_usd: '3' })]
  const names = (list: Summary[]) => list.map((q) => q.name)
  it('has those that run first, and keeps the order of the server', () => {
    expect(names(sorted(all, 'latest'))).toEqual(['a10', 'b', 'a9'])
    expect(names(sorted(all, 'cost'))).toEqual(['a10', 'a9', 'b'])
    expect(names(sorted(all.map((q) => ({ ...q, running: false })), 'name'))).toEqual(['a9', 'a10', 'b'])
  })
  it('counts what is known of the money', () => { expect(total(all)).toBe(5) })
  it('groups, with what each group has cost', () => {
    expect(lined(all, 'society').map((l) => (l.kind === 'group' ? `${l.name} ${l.count} ${l.cost}` : l.quest.name)))
      .toEqual(['lab 2 5', 'b', 'a9', 'solo 1 0', 'a10'])
    expect(lined(all, '').length).toBe(3)
  })
  it('says how many agree', () => {
    const q = quest('x', { verdict: verdict(2, 1, 3) })
    expect([agreement(q), agreed(q), agreement(quest('y'))]).toEqual([0.75, '3 of 4 papers, 3 of 4 votes', -1])
  })
  it('finds all words, in the question and the answer too', () => {
    const q = quest('x', { question: 'How many primes?', verdict: verdict(0, 0, 0) })
    expect([matches(q, 'primes 7'), matches(q, 'primes 8'), matches(q, '')]).toEqual([true, false, true])
  })
})
