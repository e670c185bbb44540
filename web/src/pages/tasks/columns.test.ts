import { expect, test } from 'vitest'
import type { TaskCard, Tests } from '../../api/types'
import { columns, isOpen, outcome, planned, proof, recorded } from './columns'

const card = (id: string, state: TaskCard['state']) => ({ id, state }) as TaskCard
const tests = (...exits: number[]): Tests => ({
  call: 1, seq: 2, wanted: [], error: {}, commands: exits.map((exit) => ({ command: 'x', exit, output: { hash: '', size: 0 } })),
})

test('every state has its column, in the order of the plan', () => {
  const all = [card('a', 'cancelled'), card('b', 'planned'), card('c', 'working'), card('d', 'judging'), card('e', 'accepted'), card('f', 'failed'),
    card('g', 'planned')]
  expect(columns(all).map((c) => [c.id, c.tasks.map((t) => t.id).join('')])).toEqual([
    ['planned', 'bg'], ['working', 'c'], ['judging', 'd'], ['accepted', 'e'], ['ended', 'af'],
  ])
})

test('where the plan stands', () => {
  expect(planned({})).toBe('There is no plan yet.')
  expect(planned({ plan: { seq: 3 } })).toBe('The plan is proposed.')
  expect(planned({ plan: { seq: 3, approved: 4 } })).toBe('The plan stands.')
  expect(planned({ plan: { seq: 3, approved: 4, question: 5 } })).toMatch('said yes')
  expect(planned({ plan: { seq: 3, approved: 4, question: 5, edited: true } })).toMatch('changed')
})

test('how acceptance went, and what it proves', () => {
  expect(outcome(undefined)).toBeUndefined()
  expect(outcome({ ...tests(), seq: undefined })).toBe('running')
  expect(outcome(tests(0, 1))).toBe('fail')
  expect(outcome(tests(0, 0))).toBe('pass')
  expect(outcome({ ...tests(0), error: { text: 'no computer' } })).toBe('fail')
  expect(proof(tests(1), tests(0))).toMatch('succeed now')
  expect(proof(tests(0), tests(0))).toMatch('proves nothing')
  expect(proof(tests(1), tests(1))).toBe('')
  expect(proof(undefined, tests(0))).toBe('')
})

test('a task that is over is told nothing', () => {
  const states: TaskCard['state'][] = ['planned', 'working', 'judging', 'accepted', 'failed', 'cancelled']
  expect(states.filter((state) => isOpen({ state }))).toEqual(['planned', 'working', 'judging'])
})

test('what becomes of an order', () => {
  expect(recorded('cancel', true)).toMatch('The task ends')
  expect(recorded('message', true)).toMatch('is told')
  expect(recorded('cancel', false)).toMatch('when it is started')
  expect(recorded('message', false)).toMatch('when it is started')
})
