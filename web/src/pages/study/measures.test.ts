import { expect, test } from 'vitest'
import type { BranchNode } from '../../api/types'
import { measures } from './branchcells'

const branch = (ref: string, value: string, over: Partial<BranchNode> = {}, verdict = 'verified') => ({
  ref, label: ref, run_kind: 'main', latest_metric: { name: 'mae', direction: 'lower', value, data: '', result: ref, verdict }, ...over,
}) as BranchNode

test('the level is the baseline, and not what branches came from', () => {
  const slice = branch('analysis/slice', '3', { compare_base: 'run/best', run_kind: 'slice' })
  const nodes = [branch('run/first', '7', { run_kind: 'baseline' }), branch('run/best', '2'), slice]
  expect(measures(nodes)[0]?.level).toBe(7)
})

test('a baseline that was verified stands before one that was not', () => {
  const nodes = [branch('run/first', '7', { run_kind: 'baseline' }), branch('run/second', '5', { run_kind: 'baseline' }, 'differs')]
  expect(measures(nodes)[0]?.level).toBe(7)
})
