import { expect, test } from 'vitest'
import { societyOf, tabAt } from '.'

const sources = import.meta.glob('../**/*.{ts,tsx}', { query: '?raw', import: 'default', eager: true }) as Record<string, string>

// The types are made from openapi.json, which describes all societies.
const elsewhere = Object.entries(sources).filter(([path]) => !path.startsWith('./') && !path.endsWith('api/types.ts') && !/\.test\.tsx?$/.test(path))

test('nothing but the table names a society', () => {
  expect(elsewhere.length).toBeGreaterThan(40)
  for (const [path, text] of elsewhere) {
    expect(text.match(/['"`](lab|contract|architect|solo)['"`]|\.(lab|contract|architect|solo)\b|society\s*[!=]==?/)?.[0], `${path} names a society`).toBeUndefined()
  }
})

test('a society that the page does not know is shown as an agent alone', () => {
  expect(societyOf('token-ring')).toBe(societyOf('solo'))
  expect(societyOf('lab').tabs.map((t) => t.path)).toEqual(['papers'])
  expect(tabAt('tasks')?.label).toBe('Tasks')
  expect(tabAt('evidence')?.label).toBe('Evidence')
  expect(tabAt('canvas')).toBeUndefined()
})
