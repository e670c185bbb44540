import { useEffect, useMemo, useState } from 'react'
import { Failure } from './client'

type Page<T> = { rows: T[]; settled: boolean; old: boolean }

/** What a page is: its rows, and whether they can still change. */
export type Read<T> = { rows: T[]; settled: boolean }

const keep = 80
const pause = 2000

/**
 * Pages reads a long list, a page at a time, and only where somebody looks. One answer is
 * awaited at a time and the latest wish comes first: whoever drags the bar over a million
 * rows asks for where they stop, not for all that passed by. Pages far away are forgotten.
 */
export class Pages<T> {
  failure: Failure | undefined
  private held = new Map<number, Page<T>>()
  private wish: [number, number] = [0, -1]
  private stop = new AbortController()
  private busy = false
  private round = 0
  private timer: number | undefined

  constructor(readonly size: number, private readonly read: (page: number, gone: AbortSignal) => Promise<Read<T>>, private readonly changed: () => void) {}

  at(row: number): T | undefined {
    return this.held.get(Math.floor(row / this.size))?.rows[row % this.size]
  }

  want(first: number, last: number): void {
    this.wish = [Math.floor(Math.max(0, first) / this.size), Math.floor(last / this.size)]
    void this.work()
  }

  /** again has what may have changed read once more; until then it is shown as it was. */
  again(): void {
    this.round++
    for (const page of this.held.values()) page.old = !page.settled
    void this.work()
  }

  /** close ends what is under way. A later wish begins again. */
  close(): void {
    this.stop.abort()
    this.stop = new AbortController()
    this.wish = [0, -1]
    window.clearTimeout(this.timer)
  }

  private next(done: ReadonlyMap<number, Page<T>>): number | undefined {
    for (let i = this.wish[0]; i <= this.wish[1]; i++) {
      const page = this.held.get(i)
      if ((!page || page.old) && !done.has(i)) return i
    }
    return undefined
  }

  // What is read again is shown all at once: half of it old, rows would stand there twice.
  private async work(): Promise<void> {
    if (this.busy) return
    this.busy = true
    window.clearTimeout(this.timer)
    const gone = this.stop.signal
    const renewed = new Map<number, Page<T>>()
    try {
      for (let i = this.next(renewed); i !== undefined; i = this.next(renewed)) {
        const round = this.round
        const { rows, settled } = await this.read(i, gone)
        if (gone.aborted) break
        const page = { rows, settled, old: !settled && round !== this.round }
        if (this.held.has(i)) renewed.set(i, page)
        else this.put(i, page)
      }
      for (const [i, page] of renewed) this.put(i, page)
      this.failure = undefined
    } catch (error) {
      if (!gone.aborted) return this.fail(error)
    }
    this.busy = false
    // What changed, or was asked for by somebody new, while this was under way.
    if (this.next(new Map()) !== undefined) void this.work()
  }

  private fail(error: unknown): void {
    this.busy = false
    this.failure = error instanceof Failure ? error : new Failure(0, '', String(error))
    this.timer = window.setTimeout(() => void this.work(), pause)
    this.changed()
  }

  private put(index: number, page: Page<T>): void {
    this.held.set(index, page)
    if (this.held.size > keep) {
      const far = [...this.held.keys()].sort((a, b) => Math.abs(b - index) - Math.abs(a - index))
      for (const i of far.slice(0, this.held.size - keep)) this.held.delete(i)
    }
    this.changed()
  }
}

/**
 * usePages are the pages of a list as long as it is shown. Another list, which `of` names, begins
 * with nothing; whenever fresh is another, what may have changed is read again.
 */
export function usePages<T>(size: number, read: (page: number, gone: AbortSignal) => Promise<Read<T>>, of: string, fresh: string): Pages<T> {
  const [, bump] = useState(0)
  // eslint-disable-next-line react-hooks/exhaustive-deps -- `of` stands for all that read reads
  const pages = useMemo(() => new Pages<T>(size, read, () => bump((n) => n + 1)), [of])
  useEffect(() => () => pages.close(), [pages])
  useEffect(() => pages.again(), [pages, fresh])
  return pages
}
