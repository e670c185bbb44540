import { useCallback, useEffect, useRef, useState } from 'react'
import { crateLink, ended, follow, why } from './jobs'
import type { Job } from './types'

/** Doing is a job as the page knows it. */
export type Doing = { state: 'none' } | { state: 'busy'; job: Job } | { state: 'failed'; why: string } | { state: 'done'; job: Job }

/** useJob has the server do something that takes long, and follows it for as long as the page is open. */
export function useJob(start: () => Promise<Job>, onDone: (job: Job) => void): [Doing, () => void] {
  const [doing, setDoing] = useState<Doing>({ state: 'none' })
  const stop = useRef<AbortController>(undefined)
  useEffect(() => () => stop.current?.abort(), [])
  const begin = useCallback(async () => {
    stop.current?.abort()
    const mine = new AbortController()
    stop.current = mine
    const tell = (now: Doing) => { if (!mine.signal.aborted) setDoing(now) }
    try {
      const job = await follow(await start(), (now) => tell({ state: 'busy', job: now }), mine.signal)
      tell({ state: 'done', job })
      if (!mine.signal.aborted) onDone(job)
    } catch (error) {
      tell(ended(error) ? { state: 'none' } : { state: 'failed', why: why(error) })
    }
  }, [start, onDone])
  return [doing, () => void begin()]
}

/** fetchCrate has the browser fetch a crate by itself: a large one does not fit into the page. */
export function fetchCrate(job: Job) {
  const link = document.createElement('a')
  link.href = crateLink(job.id)
  link.download = job.crate?.name ?? ''
  link.click()
}
