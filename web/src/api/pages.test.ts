import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Pages } from './pages'

describe('Pages', () => {
  beforeEach(() => { vi.useFakeTimers(); vi.stubGlobal('window', globalThis) })
  afterEach(() => { vi.useRealTimers(); vi.unstubAllGlobals() })

  const made = (settled = true) => {
    const asked: number[] = []
    let version = 0
    const pages = new Pages<string>(10, async (page) => {
      asked.push(page)
      await new Promise((done) => setTimeout(done, 10))
      return { rows: Array.from({ length: 10 }, (_, i) => `${page * 10 + i}/${version}`), settled }
    }, () => {})
    return { pages, asked, renew: () => { version++; pages.again() } }
  }

  it('reads only where somebody looks, each page once', async () => {
    const { pages, asked } = made()
    pages.want(25, 31)
    pages.want(25, 31)
    await vi.runAllTimersAsync()
    expect(asked).toEqual([2, 3])
    expect([pages.at(19), pages.at(20), pages.at(39)]).toEqual([undefined, '20/0', '39/0'])
  })
  it('leaves out what passed by while an answer was awaited', async () => {
    const { pages, asked } = made()
    for (const row of [0, 100, 200, 300]) pages.want(row, row + 5)
    await vi.runAllTimersAsync()
    expect(asked).toEqual([0, 30])
  })
  it('reads again what can change, and shows all of it at once', async () => {
    const { pages, renew } = made(false)
    pages.want(0, 19)
    await vi.runAllTimersAsync()
    renew()
    await vi.advanceTimersByTimeAsync(15)
    expect([pages.at(0), pages.at(10)]).toEqual(['0/0', '10/0'])
    await vi.runAllTimersAsync()
    expect([pages.at(0), pages.at(10)]).toEqual(['0/1', '10/1'])
  })
  it('never reads again what is settled', async () => {
    const { pages, asked, renew } = made()
    pages.want(0, 5)
    await vi.runAllTimersAsync()
    renew()
    await vi.runAllTimersAsync()
    expect(asked).toEqual([0])
  })
  it('forgets what is far away when there is much', async () => {
    const { pages, asked } = made()
    for (let i = 0; i < 120; i++) { pages.want(i * 10, i * 10); await vi.runAllTimersAsync() }
    expect(pages.at(0)).toBeUndefined()
    expect(pages.at(1190)).toBe('1190/0')
    expect(asked).toHaveLength(120)
  })
  it('tries again after a failure, and says what it was', async () => {
    let fail = true
    const pages = new Pages<string>(10, async () => { if (fail) throw new Error('no'); return { rows: ['yes'], settled: true } }, () => {})
    pages.want(0, 0)
    await vi.advanceTimersByTimeAsync(10)
    expect(pages.failure?.message).toContain('no')
    fail = false
    await vi.runAllTimersAsync()
    expect([pages.at(0), pages.failure]).toEqual(['yes', undefined])
  })
})
