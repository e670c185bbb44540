import { get, questPath, query, Failure } from '../api/client'
import { key } from '../api/session'
import type { Cut, Delta, Detail, End, Event, EventPage } from '../api/types'

export type Connection =
  | { kind: 'connecting' }
  | { kind: 'live' }
  | { kind: 'ended' }
  | { kind: 'resting' }
  | { kind: 'lost'; retryAt: number; reason: string }

/**
 * What an agent says to a model.call, of which that is the seq. It is over once the answer is in
 * the ledger, and stays until the agent says something else, for who has not read that far yet.
 */
export type Saying = { to: number; text: string; thinking: string; call: string; over: boolean }

/** words are what an agent is saying right now. */
export const words = (saying: Saying | undefined): string => (saying && !saying.over ? saying.text || saying.thinking || saying.call : '')

export type Snapshot = {
  connection: Connection
  head: number
  /** grows with every bunch of events: whoever reads projections reads them again. */
  version: number
  recent: Event[]
  saying: ReadonlyMap<string, Saying>
}

const keepRecent = 200
const maxSaying = 20_000
const calm = 250
const longestWait = 15_000
const lookAgain = 5000
const lookResting = 15_000

/**
 * LiveQuest follows one quest. Events come in order, each once: what was seen is
 * dropped, and what is missing is fetched before anything after it is shown. A lost
 * connection is tried again for ever, and goes on from the last event that was seen.
 */
export class LiveQuest {
  private source: EventSource | undefined
  private timer: number | undefined
  private flushTimer: number | undefined
  private listeners = new Set<() => void>()
  private waiting: Event[] = []
  private filling = false
  private saying = new Map<string, Saying>()
  private attempts = 0
  private closed = false
  private resting = false
  // heard is the last event that it knows of without having it.
  private heard = 0
  private state: Snapshot

  constructor(readonly quest: string, head: number) {
    this.state = { connection: { kind: 'connecting' }, head, version: 0, recent: [], saying: new Map() }
  }

  subscribe = (changed: () => void): (() => void) => {
    this.listeners.add(changed)
    return () => this.listeners.delete(changed)
  }

  snapshot = (): Snapshot => this.state

  /** open takes the stream up where it stood, unless it is there. */
  open(): void {
    this.closed = this.resting = false
    window.clearTimeout(this.timer)
    if (this.state.connection.kind === 'ended') this.look()
    else if (!this.source) this.connect()
  }

  close(): void {
    this.closed = true
    this.drop()
    window.clearTimeout(this.timer)
    window.clearTimeout(this.flushTimer)
    this.flushTimer = undefined
  }

  /**
   * rest lets go of the stream: a browser has six connections for a server, over all its windows, and a window that nobody looks at
   * needs none of them. It asks now and then whether something came. open ends it.
   */
  rest(): void {
    this.resting = true
    if (this.closed || this.state.connection.kind === 'ended') return
    this.drop()
    this.doze()
  }

  private doze(): void {
    if (this.state.connection.kind !== 'resting') this.set({ connection: { kind: 'resting' }, saying: new Map(this.saying) })
    window.clearTimeout(this.timer)
    this.timer = window.setTimeout(() => void this.peek(), lookResting)
  }

  // What is shown is read again if there is something new. The events themselves come with the stream.
  private async peek(): Promise<void> {
    const { events } = await get<Detail>(questPath(this.quest)).catch(() => ({ events: 0 }))
    if (this.closed || !this.resting) return
    if (events > Math.max(this.heard, this.last())) {
      this.heard = events
      this.set({ version: this.state.version + 1 })
    }
    this.doze()
  }

  /** now tries again at once: somebody pressed the button, or started the quest. */
  now = (): void => {
    this.resting = false
    window.clearTimeout(this.timer)
    this.drop()
    this.connect()
  }

  private connect(): void {
    if (this.closed) return
    if (this.resting) return this.doze()
    this.set({ connection: { kind: 'connecting' } })
    const source = new EventSource(`/api${questPath(this.quest, '/events')}${query({ after: this.last() || '0', key: key() })}`)
    this.source = source
    source.onopen = () => {
      this.attempts = 0
      this.set({ connection: { kind: 'live' } })
    }
    source.onmessage = (message) => this.take(JSON.parse(message.data as string) as Event)
    source.addEventListener('delta', (message) => this.hear(JSON.parse(message.data) as Delta))
    source.addEventListener('cut', (message) => this.lose((JSON.parse(message.data) as Cut).reason))
    source.addEventListener('end', (message) => void this.end(JSON.parse(message.data) as End))
    source.onerror = () => this.lose('the server does not answer')
  }

  private drop(): void {
    this.source?.close()
    this.source = undefined
    // What is said meanwhile does not come again.
    for (const [agent, saying] of this.saying) if (!saying.over) this.saying.delete(agent)
  }

  private last(): number {
    return this.waiting.at(-1)?.seq ?? this.state.head
  }

  private take(event: Event): void {
    if (event.seq <= this.last()) return
    if (event.seq !== this.last() + 1) void this.fill()
    else this.accept(event)
  }

  private accept(event: Event): void {
    this.waiting.push(event)
    const said = this.saying.get(event.actor)
    if (event.type === 'model.result' && said) {
      if (event.body.error) this.saying.delete(event.actor)
      else this.saying.set(event.actor, { ...said, over: true })
    }
    this.later()
  }

  // The stream skipped something, which it never should. The pages have it.
  private async fill(): Promise<void> {
    if (this.filling) return
    this.filling = true
    try {
      for (;;) {
        const page = await get<EventPage>(questPath(this.quest, `/events${query({ after: this.last() || '0', limit: 500 })}`))
        for (const { event } of page.events) if (event.seq === this.last() + 1) this.accept(event)
        if (page.next === undefined) break
      }
    } catch (error) {
      this.lose(error instanceof Failure ? error.message : String(error))
    } finally {
      this.filling = false
    }
  }

  private hear(delta: Delta): void {
    const last = this.saying.get(delta.agent)
    const before = last?.to === delta.call ? last : undefined
    const now = before ?? { to: delta.call, text: '', thinking: '', call: '', over: false }
    // Who comes in the middle of an answer does not see its beginning.
    const text = before || delta.first ? delta.text : '…' + delta.text
    switch (delta.kind) {
      case 'text': now.text = clip(now.text + text); break
      case 'thinking': now.thinking = clip(now.thinking + text); break
      case 'tool_call': now.call = clip(now.call + text); break
      default: now.text = now.thinking = now.call = ''
    }
    this.saying.set(delta.agent, { ...now })
    this.later()
  }

  private async end(end: End): Promise<void> {
    this.drop()
    if (end.head > this.last()) await this.fill()
    this.flush()
    this.set({ connection: { kind: 'ended' } })
    this.look()
  }

  // An ended quest may be run again, by another window or by the command line.
  private look(): void {
    window.clearTimeout(this.timer)
    this.timer = window.setTimeout(() => {
      if (this.closed || this.state.connection.kind !== 'ended') return
      get<Detail>(questPath(this.quest)).then(
        (quest) => (quest.running || quest.events > this.state.head ? this.connect() : this.look()),
        // Nothing new can come of it, but what is on the page cannot be steered or read on either.
        (error: unknown) => (error instanceof Failure && error.status > 0 ? this.look() : this.lose('the server does not answer')),
      )
    }, lookAgain)
  }

  private lose(reason: string): void {
    this.drop()
    if (this.closed || this.resting) return
    const wait = Math.min(longestWait, 1000 * 2 ** this.attempts++)
    this.set({ connection: { kind: 'lost', retryAt: Date.now() + wait, reason }, saying: new Map(this.saying) })
    window.clearTimeout(this.timer)
    this.timer = window.setTimeout(() => void this.retry(), wait)
  }

  // An EventSource does not tell why it failed. Asking for the quest first does: a
  // quest that is gone or credentials that ran out are no reason to try for ever.
  private async retry(): Promise<void> {
    try {
      await get<Detail>(questPath(this.quest))
      this.connect()
    } catch (error) {
      this.lose(error instanceof Failure && error.status > 0 ? error.message : 'the server does not answer')
    }
  }

  // Many events a second are shown a few times a second.
  private later(): void {
    this.flushTimer ??= window.setTimeout(() => this.flush(), calm)
  }

  private flush(): void {
    window.clearTimeout(this.flushTimer)
    this.flushTimer = undefined
    const fresh = this.waiting
    this.waiting = []
    const saying = new Map(this.saying)
    if (fresh.length === 0) return this.set({ saying })
    this.set({
      head: fresh.at(-1)?.seq ?? this.state.head,
      version: this.state.version + 1,
      recent: [...this.state.recent, ...fresh].slice(-keepRecent),
      saying,
    })
  }

  private set(change: Partial<Snapshot>): void {
    this.state = { ...this.state, ...change }
    for (const listener of this.listeners) listener()
  }
}

const clip = (text: string) => (text.length > maxSaying ? `…${text.slice(-maxSaying)}` : text)
