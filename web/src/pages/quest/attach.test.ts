import { expect, test } from 'vitest'
import { refusal } from './attach'

const mib = 1024 * 1024

test('files are refused beyond eight, beyond 25 MiB each, and beyond 29 MiB together', () => {
  const files = (n: number, size: number) => Array.from({ length: n }, () => ({ name: 'a\u202eb.csv', size }))
  expect(refusal([])).toBe('')
  expect(refusal(files(8, 10))).toBe('')
  expect(refusal(files(9, 10))).toContain('at most 8 files; these are 9')
  expect(refusal(files(1, 25 * mib))).toBe('')
  expect(refusal(files(1, 25 * mib + 1))).toContain('at most 25 MiB;')
  expect(refusal(files(1, 26 * mib))).not.toContain('\u202e')
  expect(refusal(files(2, 14.5 * mib))).toBe('')
  expect(refusal(files(2, 14.5 * mib + 1))).toContain('at most 29 MiB together')
})
