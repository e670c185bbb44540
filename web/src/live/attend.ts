import type { LiveQuest } from './stream'

// Whoever looks at another window for a moment misses nothing of what is being said.
const patience = 5000

/**
 * attend keeps the stream of a quest open while its window is looked at. One that is hidden lets go of it after a moment, one that is
 * left at once: a browser may keep a page that was left, to go back to, and its connections with it.
 */
export function attend(stream: Pick<LiveQuest, 'open' | 'rest' | 'close'>): () => void {
  let timer: number | undefined
  const look = () => {
    window.clearTimeout(timer)
    if (document.visibilityState === 'hidden') timer = window.setTimeout(() => stream.rest(), patience)
    else stream.open()
  }
  const leave = () => {
    window.clearTimeout(timer)
    stream.rest()
  }
  stream.open()
  if (document.visibilityState === 'hidden') stream.rest()
  document.addEventListener('visibilitychange', look)
  window.addEventListener('pagehide', leave)
  window.addEventListener('pageshow', look)
  return () => {
    window.clearTimeout(timer)
    document.removeEventListener('visibilitychange', look)
    window.removeEventListener('pagehide', leave)
    window.removeEventListener('pageshow', look)
    stream.close()
  }
}
