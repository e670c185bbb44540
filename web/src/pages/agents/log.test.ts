import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Log, type Line } from './log'

// An agent that did something at every seventh event at first, and long after that again.
const all: number[] = [...Array.from({ length: 9000 }, (_, i) => 7 * i + 1), ...Array.from({ length: 900 }, (_, i) => 400_000 + i)]
const never = new AbortController().signal

describe('Log', () => {
  let asked = 0
  beforeEach(() => {
    asked = 0
    vi.stubGlobal('window', globalThis)
    vi.stubGlobal('fetch', async (url: string) => {
      asked++
      const q = new URL(url, 'http://x').searchParams
      const tail = Number(q.get('tail') ?? 0)
      const behind = all.filter((seq) => seq > Number(q.get('after') ?? 0))
      const lines = (tail > 0 ? behind.slice(-tail) : behind.slice(0, Number(q.get('limit')))).map((seq) => ({ seq, kind: 'stdout', time: '',
        text: String(seq) }) as Line)
      return new Response(JSON.stringify({ lines }), { status: 200 })
    })
  })
  afterEach(() => vi.unstubAllGlobals())
  const seqs = (log: Log) => log.at?.lines.map((l) => l.seq) ?? []

  it('begins at the end', async () => {
    const log = new Log('q', 'a')
    await log.later(never)
    expect(seqs(log)).toEqual(all.slice(-500))
    expect(log.at).toMatchObject({ base: 0, whole: false, end: true })
  })
  it('goes back to the first line without a gap or a repeat, and keeps the numbers of the others', async () => {
    const log = new Log('q', 'a')
    await log.later(never)
    let seen = seqs(log)
    const last = seqs(log)
    while (!log.at?.whole) {
      const before = log.at?.base ?? 0
      await log.earlier(never)
      const grown = before - (log.at?.base ?? 0)
      seen = [...seqs(log).slice(0, grown), ...seen]
      expect(log.at?.lines.length).toBeLessThanOrEqual(6000)
    }
    expect(seen).toEqual(all)
    expect(log.at?.base).toBe(last.length - all.length)
    expect(asked).toBeLessThan(400)
  })
  it('comes forward again to the end', async () => {
    const log = new Log('q', 'a')
    await log.later(never)
    while (!log.at?.whole) await log.earlier(never)
    expect(log.at?.end).toBe(false)
    for (let i = 0; i < 60 && !log.at?.end; i++) await log.later(never)
    expect(seqs(log)).toEqual(all.slice(-6000))
  })
})
