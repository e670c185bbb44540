import { expect, test } from 'vitest'
import { refusal } from './attach'

test('files are refused beyond eight, and beyond 7 MiB together', () => {
  const files = (n: number, size: number) => Array.from({ length: n }, () => ({ size }))
  expect(refusal([])).toBe('')
  expect(refusal(files(8, 10))).toBe('')
  expect(refusal(files(9, 10))).toContain('at most 8 files; these are 9')
  expect(refusal(files(2, 3.5 * 1024 * 1024))).toBe('')
  expect(refusal(files(2, 3.5 * 1024 * 1024 + 1))).toContain('at most 7 MiB together')
})
