import { expect, test } from 'vitest'
import { base64 } from './base64'

test('bytes are written as base64, however many they are', () => {
  expect(base64(new Uint8Array([0, 255, 128]))).toBe('AP+A')
  expect(base64(new Uint8Array())).toBe('')
  const large = new Uint8Array(300_000).map((_, i) => (i * 7) & 127)
  expect(atob(base64(large)) === new TextDecoder('latin1').decode(large)).toBe(true)
})
