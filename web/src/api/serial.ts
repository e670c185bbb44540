import { useEffect, useRef } from 'react'

/**
 * useSerial runs work now and whenever version changes, one run at a time. A change
 * that comes during a run is not lost: the work runs once more after it. Work is told
 * by the signal when nobody wants its result any longer.
 */
export function useSerial(work: (gone: AbortSignal) => Promise<void>, key: string, version: number): void {
  const latest = useRef(work)
  latest.current = work
  const wish = useRef<() => void>(undefined)
  useEffect(() => {
    const stop = new AbortController()
    let busy = false
    let again = false
    wish.current = () => {
      if (busy) { again = true; return }
      busy = true
      again = false
      void latest.current(stop.signal).finally(() => {
        busy = false
        if (again && !stop.signal.aborted) wish.current?.()
      })
    }
    wish.current()
    return () => stop.abort()
  }, [key])
  const seen = useRef(version)
  useEffect(() => {
    if (seen.current === version) return
    seen.current = version
    wish.current?.()
  }, [version])
}
