import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Event } from '../api/types'
import { LiveQuest, words } from './stream'

class FakeSource {
  static all: FakeSource[] = []
  onopen?: () => void
  onerror?: () => void
  onmessage?: (m: { data: string }) => void
  closed = false
  private named = new Map<string, (m: { data: string }) => void>()
  constructor(readonly url: string) { FakeSource.all.push(this) }
  addEventListener(name: string, f: (m: { data: string }) => void) { this.named.set(name, f) }
  close() { this.closed = true }
  say(name: string, data: unknown) { this.named.get(name)?.({ data: JSON.stringify(data) }) }
  event(seq: number, type = 'tool.call') { this.onmessage?.({ data: JSON.stringify(made(seq, type)) }) }
}

const made = (seq: number, type = 'tool.call') => ({ seq, type, actor: 'agent-0', body: {} }) as unknown as Event
const last = () => FakeSource.all.at(-1) as FakeSource

describe('LiveQuest', () => {
  let asked: string[]
  beforeEach(() => {
    vi.useFakeTimers()
    FakeSource.all = []
    asked = []
    vi.stubGlobal('window', globalThis)
    vi.stubGlobal('EventSource', FakeSource)
    vi.stubGlobal('fetch', async (url: string) => {
      asked.push(url)
      const after = Number(new URL(url, 'http://x').searchParams.get('after') ?? 0)
      const body = url.includes('/events') ? { events: [1, 2, 3].map((n) => ({ input: false, event: made(after + n) })), head: after + 3 } : {}
      return new Response(JSON.stringify(body), { status: 200 })
    })
  })
  afterEach(() => { vi.useRealTimers(); vi.unstubAllGlobals() })
  const open = (head: number) => {
    const live = new LiveQuest('q', head)
    live.open()
    last().onopen?.()
    return live
  }

  it('begins behind what is known already', () => {
    open(41)
    expect(last().url).toBe('/api/quests/q/events?after=41')
  })
  it('takes every event once, in order', async () => {
    const live = open(0)
    for (const seq of [1, 2, 2, 1, 3]) last().event(seq)
    await vi.advanceTimersByTimeAsync(300)
    expect(live.snapshot().recent.map((e) => e.seq)).toEqual([1, 2, 3])
    expect(live.snapshot().head).toBe(3)
  })
  it('fetches what the stream left out before it shows what came after', async () => {
    const live = open(0)
    last().event(1)
    last().event(4)
    await vi.advanceTimersByTimeAsync(300)
    expect(asked).toEqual(['/api/quests/q/events?after=1&limit=500'])
    expect(live.snapshot().recent.map((e) => e.seq)).toEqual([1, 2, 3, 4])
  })
  it('goes on from the last event after a lost connection, and says when', async () => {
    const live = open(0)
    last().event(1)
    last().onerror?.()
    expect(live.snapshot().connection).toMatchObject({ kind: 'lost', retryAt: Date.now() + 1000 })
    await vi.advanceTimersByTimeAsync(1100)
    expect(FakeSource.all).toHaveLength(2)
    expect(last().url).toContain('after=1')
  })
  it('forgets what an agent was saying once it has said it', async () => {
    const live = open(0)
    last().say('delta', { agent: 'agent-0', call: 0, first: true, kind: 'text', text: 'The sum' })
    await vi.advanceTimersByTimeAsync(300)
    expect(live.snapshot().saying.get('agent-0')?.text).toBe('The sum')
    last().event(1, 'model.result')
    await vi.advanceTimersByTimeAsync(300)
    expect(words(live.snapshot().saying.get('agent-0'))).toBe('')
    last().say('delta', { agent: 'agent-0', call: 2, first: true, kind: 'text', text: 'Or' })
    await vi.advanceTimersByTimeAsync(300)
    expect(words(live.snapshot().saying.get('agent-0'))).toBe('Or')
  })
  it('says that the beginning is missing to who comes in the middle of an answer', async () => {
    const live = open(0)
    last().say('delta', { agent: 'agent-0', call: 0, first: true, kind: 'text', text: 'The sum' })
    last().onerror?.()
    await vi.advanceTimersByTimeAsync(1100)
    last().say('delta', { agent: 'agent-0', call: 0, first: false, kind: 'text', text: '7' })
    last().say('delta', { agent: 'agent-0', call: 0, first: false, kind: 'text', text: '.' })
    await vi.advanceTimersByTimeAsync(300)
    expect(live.snapshot().saying.get('agent-0')?.text).toBe('…7.')
  })
  it('closes when the quest has ended', async () => {
    const live = open(0)
    last().event(1)
    last().say('end', { status: 'finished', head: 1 })
    await vi.advanceTimersByTimeAsync(300)
    expect(last().closed).toBe(true)
    expect(live.snapshot()).toMatchObject({ head: 1, connection: { kind: 'ended' } })
  })
  it('lets go of the stream while nobody looks, and goes on where it stood', async () => {
    const live = open(0)
    last().event(1)
    live.rest()
    expect(last().closed).toBe(true)
    expect(live.snapshot().connection.kind).toBe('resting')
    await vi.advanceTimersByTimeAsync(60_000)
    expect(FakeSource.all).toHaveLength(1)
    live.open()
    expect(FakeSource.all).toHaveLength(2)
    expect(last().url).toContain('after=1')
    live.open()
    expect(FakeSource.all).toHaveLength(2)
  })
  it('asks now and then, while it rests, whether something came, and has what is shown read again once for it', async () => {
    const live = open(3)
    let events = 3
    vi.stubGlobal('fetch', async () => new Response(JSON.stringify({ events }), { status: 200 }))
    live.rest()
    await vi.advanceTimersByTimeAsync(16_000)
    expect(live.snapshot().version).toBe(0)
    events = 5
    await vi.advanceTimersByTimeAsync(60_000)
    expect(live.snapshot()).toMatchObject({ version: 1, head: 3, connection: { kind: 'resting' } })
    vi.stubGlobal('fetch', async () => { throw new TypeError('no') })
    await vi.advanceTimersByTimeAsync(60_000)
    expect(live.snapshot().connection.kind).toBe('resting')
  })
  it('does not take the stream up while it rests, whatever it waited for', async () => {
    const live = open(0)
    last().onerror?.()
    live.rest()
    await vi.advanceTimersByTimeAsync(60_000)
    expect(FakeSource.all).toHaveLength(1)
    live.open()
    last().say('end', { status: 'finished', head: 0 })
    await vi.advanceTimersByTimeAsync(300)
    live.rest()
    vi.stubGlobal('fetch', async () => new Response(JSON.stringify({ running: true, events: 9 }), { status: 200 }))
    await vi.advanceTimersByTimeAsync(60_000)
    expect(FakeSource.all).toHaveLength(2)
    expect(live.snapshot().connection.kind).toBe('resting')
    live.open()
    expect(FakeSource.all).toHaveLength(3)
  })
  it('says that the server is gone, also of a quest that has ended', async () => {
    const live = open(0)
    last().say('end', { status: 'finished', head: 0 })
    vi.stubGlobal('fetch', async () => { throw new TypeError('no') })
    await vi.advanceTimersByTimeAsync(5100)
    expect(live.snapshot().connection.kind).toBe('lost')
  })
})
