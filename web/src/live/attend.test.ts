import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { attend } from './attend'

describe('attend', () => {
  const said: string[] = []
  const stream = { open: () => said.push('open'), rest: () => said.push('rest'), close: () => said.push('close') }
  const made = () => Object.assign(new EventTarget(), { visibilityState: 'visible' })
  let page = made()
  const look = (state: string) => { page.visibilityState = state; page.dispatchEvent(new Event('visibilitychange')) }
  beforeEach(() => {
    vi.useFakeTimers()
    said.length = 0
    page = made()
    vi.stubGlobal('document', page)
    vi.stubGlobal('window', Object.assign(new EventTarget(), { setTimeout: globalThis.setTimeout, clearTimeout: globalThis.clearTimeout }))
  })
  afterEach(() => { vi.useRealTimers(); vi.unstubAllGlobals() })

  it('lets go of what nobody looks at, after a moment', async () => {
    attend(stream)
    look('hidden')
    await vi.advanceTimersByTimeAsync(1000)
    look('visible')
    await vi.advanceTimersByTimeAsync(60_000)
    expect(said).toEqual(['open', 'open'])
    look('hidden')
    await vi.advanceTimersByTimeAsync(60_000)
    look('visible')
    expect(said).toEqual(['open', 'open', 'rest', 'open'])
  })
  it('lets go at once of a page that is left, and takes it up when somebody goes back to it', () => {
    attend(stream)
    window.dispatchEvent(new Event('pagehide'))
    expect(said).toEqual(['open', 'rest'])
    window.dispatchEvent(new Event('pageshow'))
    expect(said).toEqual(['open', 'rest', 'open'])
  })
  it('has no stream in a window that was opened behind another', () => {
    page.visibilityState = 'hidden'
    attend(stream)
    expect(said.at(-1)).toBe('rest')
  })
  it('hears nothing more once it is over', async () => {
    attend(stream)()
    look('hidden')
    window.dispatchEvent(new Event('pageshow'))
    await vi.advanceTimersByTimeAsync(60_000)
    expect(said).toEqual(['open', 'close'])
  })
})
