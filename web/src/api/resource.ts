import { useCallback, useEffect, useRef, useState } from 'react'
import { Failure, get } from './client'

export type Resource<T> = {
  data?: T
  failure?: Failure
  loading: boolean
  /** again asks the server once more, keeping what is shown meanwhile. */
  again: () => void
}

// What was shown last is shown at once when somebody comes back, and then brought up
// to date. Only a few answers are kept: the oldest goes.
const kept = new Map<string, unknown>()
const most = 60

function keep(path: string, data: unknown): void {
  kept.delete(path)
  kept.set(path, data)
  if (kept.size > most) kept.delete(kept.keys().next().value as string)
}

type Held<T> = { path: string; data?: T; failure?: Failure }

const pause = 600

/**
 * Loader reads one path again and again. While an answer is under way another wish
 * waits for it: were it to start over with every event, a busy quest would never show
 * anything.
 */
class Loader<T> {
  private stop = new AbortController()
  private busy = false
  private wanted = false
  private timer: number | undefined

  constructor(readonly path: string, private readonly told: (held: Held<T>) => void) {}

  close(): void {
    this.stop.abort()
    window.clearTimeout(this.timer)
  }

  want(): void {
    if (this.busy) this.wanted = true
    else void this.load()
  }

  private async load(): Promise<void> {
    this.busy = true
    this.wanted = false
    try {
      const data = await get<T>(this.path, this.stop.signal)
      keep(this.path, data)
      this.told({ path: this.path, data })
    } catch (error) {
      if (this.stop.signal.aborted) return
      const failure = error instanceof Failure ? error : new Failure(0, 'unknown', String(error))
      this.told({ path: this.path, data: kept.get(this.path) as T | undefined, failure })
    }
    if (this.stop.signal.aborted) return
    this.timer = window.setTimeout(() => {
      this.busy = false
      if (this.wanted) void this.load()
    }, pause)
  }
}

/**
 * useResource reads path, and reads it again whenever version changes. null reads
 * nothing. Data of another path are never shown; data of an older version are, until
 * the newer ones are there.
 */
export function useResource<T>(path: string | null, version: number = 0): Resource<T> {
  const [held, setHeld] = useState<Held<T>>()
  const loader = useRef<Loader<T>>(undefined)
  useEffect(() => {
    if (path === null) return
    loader.current = new Loader<T>(path, setHeld)
    loader.current.want()
    return () => loader.current?.close()
  }, [path])
  const seen = useRef(version)
  useEffect(() => {
    if (seen.current === version) return
    seen.current = version
    loader.current?.want()
  }, [version])
  const again = useCallback(() => loader.current?.want(), [])
  if (path === null) return { loading: false, again }
  if (held?.path === path) return { data: held.data, failure: held.failure, loading: false, again }
  const before = kept.get(path) as T | undefined
  return { data: before, loading: before === undefined, again }
}
