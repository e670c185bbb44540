import { expect, test } from 'vitest'
import type { StudyRow } from '../../api/types'
import { grouped, listOf, median, standing } from './table'

const row = (cell: number, over: Partial<StudyRow>): StudyRow => ({
  cell, society: 'solo', model: 'demo', seed: '1', quest: `s-${cell}`, state: 'finished', answer: '', group: 0, same: 0, agree: '', sure: '',
  allotted_usd: '0.10', cost_usd: '0.02', unpriced_calls: 0, seconds: cell, tokens: 10, turns: 1, events: 5, reason: '', ...over,
})

test('cells are put together, and each group has its own most frequent answer first', () => {
  const rows = [row(1, { group: 1, model: 'a' }), row(2, { group: 2, model: 'b' }), row(3, { group: 2, model: 'b' }), row(4, { group: 1, model: 'b' }),
    row(5, { state: 'open', model: 'a', seconds: 99 }), row(6, { group: 1, model: 'a' })]
  const [a, b, ...rest] = grouped({ rows, answers: [{ answer: '391', cells: [1, 4, 6] }, { answer: '390', cells: [2, 3] }] }, 'model')
  expect(rest).toEqual([])
  expect(a).toMatchObject({ name: 'a', cells: 3, seconds: 3.5, answers: [{ answer: '391', count: 2, first: true }] })
  expect(b).toMatchObject({ name: 'b', cells: 3, seconds: 3, answers: [{ answer: '390', count: 2, first: false }, { answer: '391', count: 1, first: true }] })
  expect(b?.cost).toBeCloseTo(0.06)
})

test('a median is the middle, and of nothing there is none', () => {
  expect(median([])).toBeUndefined()
  expect(median([3, 1, 2])).toBe(2)
  expect(median([4, 1, 3, 2])).toBe(2.5)
})

test('a cell that is under way stands as its quest does', () => {
  expect(standing(row(1, { state: 'waiting' }))).toBe('not begun')
  expect(standing(row(1, { state: 'open' }))).toBe('begins')
  expect(standing(row(1, { state: 'open', standing: 'paused' }))).toBe('paused')
  expect(standing(row(1, { state: 'budget', standing: 'exceeded' }))).toBe('budget')
})

test('a list is parted by commas, spaces and lines', () => {
  expect(listOf(' 1..3, 7\n9 ')).toEqual(['1..3', '7', '9'])
})
