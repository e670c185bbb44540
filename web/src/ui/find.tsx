import { useState, type KeyboardEvent } from 'react'

/** matches are those things of which the words that are asked for are all there; undefined if nothing is asked for. */
export function matches<T>(things: readonly T[], asked: string, words: (t: T) => string, id: (t: T) => string): Set<string> | undefined {
  const parts = asked.toLowerCase().split(/\s+/).filter(Boolean)
  if (parts.length === 0) return undefined
  return new Set(things.filter((t) => { const all = words(t).toLowerCase(); return parts.every((p) => all.includes(p)) }).map(id))
}

type Props = { wanted: string; hits: readonly string[]; onWanted: (text: string) => void; onHit: (id: string) => void }

/** Find searches in a picture: it says how many there are, and Enter goes from one to the next. */
export function Find({ wanted, hits, onWanted, onHit }: Props) {
  const [turn, setTurn] = useState(-1)
  const key = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || hits.length === 0) return
    event.preventDefault()
    const at = ((turn + (event.shiftKey ? -1 : 1)) % hits.length + hits.length) % hits.length
    setTurn(at)
    const hit = hits[at]
    if (hit !== undefined) onHit(hit)
  }
  return (
    <>
      <input className="find" type="search" aria-label="Search" placeholder="Search" value={wanted} onKeyDown={key}
        onChange={(e) => { onWanted(e.target.value); setTurn(-1) }} />
      {wanted && <span className="small muted" role="status">{hits.length === 0 ? 'none' : `${hits.length} found, Enter goes on`}</span>}
    </>
  )
}
