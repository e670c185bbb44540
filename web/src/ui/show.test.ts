import { expect, test } from 'vitest'
import { money, price, several } from './show'

test('money has as many digits as say something', () => {
  for (const [usd, want] of [
    ['0', '$0.00'], ['12.934567', '$12.93'], ['0.0042', '$0.0042'], ['0.000012', '$0.000012'], ['0.01', '$0.01'], ['0.0099999', '$0.01'],
    ['1234.5', '$1,234.50'], ['0.001', '$0.001'],
  ] as const) expect(money(usd)).toBe(want)
})

test('a cost that nobody knows is unknown, and never nothing', () => {
  expect(price('0.5')).toBe('$0.50')
  expect(price(null)).toBe('unknown')
  expect(price(null, '0.00')).toBe('unknown')
  expect(price(null, '0.5')).toBe('at least $0.50')
})

test('one thing is one', () => {
  expect([0, 1, 12345].map((n) => several(n, 'turn'))).toEqual(['0 turns', '1 turn', '12,345 turns'])
})
