import { useImperativeHandle, useLayoutEffect, useReducer, useRef, useState, type ReactNode, type Ref } from 'react'
import { flushSync } from 'react-dom'
import { Heights } from './heights'
import { Place, type Range } from './place'
import type { Scroller } from './virtual'

type Props = {
  /** rows have the numbers from first to first + count - 1; rows put in front lower it. */
  first?: number
  count: number
  /** guess is how high a row is taken to be until it was seen. */
  guess: number
  label: string
  /** own: the list scrolls in a box; otherwise it is a part of the page, which scrolls. */
  own?: boolean
  /** follow begins at the end. Whoever is at the end stays there, until they scroll away. */
  follow?: boolean
  className?: string
  onRange?: (first: number, last: number) => void
  /** row is what to show, nothing as long as that is not there: then its room is kept for it. */
  row: (number: number) => ReactNode
  ref?: Ref<Scroller>
}

// Should rows come whose heights depend on which others are there, drawing ends all the same.
const mostPasses = 20

// Whoever comes back to a page finds its rows as high as they were, and so their place.
const before = new Map<string, Heights>()
const keep = 30

function heightsOf(label: string, guess: number): Heights {
  const key = `${window.location.hash} ${label}`
  const heights = before.get(key) ?? new Heights(guess)
  before.delete(key)
  before.set(key, heights)
  for (const old of before.keys()) if (before.size > keep) before.delete(old)
  return heights
}

/**
 * MeasuredList shows rows of any height, and only those near the window exist. What is
 * read stays where it is on the screen: rows above it may come, be measured or grow.
 */
export function MeasuredList({ first = 0, count, guess, label, own = false, follow = false, className = '', onRange, row, ref }: Props) {
  const [, draw] = useReducer((n: number) => n + 1, 0)
  const [range, setRange] = useState<Range>({ from: first, to: first - 1 })
  const look = (near: Range) => setRange((now) => (now.from === near.from && now.to === near.to ? now : near))
  // Rows that grew are drawn at once: later would be after the next picture.
  const [place] = useState(() => new Place(own ? new Heights(guess) : heightsOf(label, guess), own, first, follow, look, () => flushSync(draw)))
  place.hold(first, count)

  // New rows are measured before anybody sees them.
  const passes = useRef(0)
  useLayoutEffect(() => {
    if (passes.current === 0) window.requestAnimationFrame(() => { passes.current = 0 })
    if (++passes.current > mostPasses) return
    if (place.measure()) return draw()
    place.settle()
    look(place.range())
  })
  useLayoutEffect(() => place.listen(), [place])
  useImperativeHandle(ref, () => ({ show: (n) => place.show(n), end: () => place.end() }), [place])

  const from = Math.max(first, Math.min(range.from, first + count - 1))
  const to = Math.min(range.to, first + count - 1)
  useLayoutEffect(() => { if (to >= from) onRange?.(from, to) }, [from, to, first, count, onRange])
  const rows = []
  for (let n = from; n <= to; n++) rows.push(<Slot key={n} n={n} place={n - first + 1} of={count} at={place}>{row(n)}</Slot>)
  const { heights } = place
  return (
    <div ref={(e) => { place.box = e }} className={`mlist ${own ? 'own' : ''} ${className}`} tabIndex={own ? 0 : undefined}
      role={own ? 'region' : undefined} aria-label={own ? label : undefined}>
      <ul ref={(e) => { place.inner = e }} aria-label={own ? undefined : label}
        style={{ paddingTop: heights.top(from), paddingBottom: Math.max(0, heights.total - heights.top(to + 1)) }}>{rows}</ul>
    </div>
  )
}

function Slot({ n, place, of, at, children }: { n: number; place: number; of: number; at: Place; children: ReactNode }) {
  const element = useRef<HTMLLIElement>(null)
  const here = children !== undefined && children !== null
  useLayoutEffect(() => (element.current && here ? at.add(n, element.current) : undefined), [n, at, here])
  const room = here ? undefined : { height: at.heights.top(n + 1) - at.heights.top(n) }
  return <li ref={element} className={here ? undefined : 'coming'} style={room} data-row={n} aria-posinset={place} aria-setsize={of}>
    {here ? children : <p className="muted">…</p>}</li>
}
