import { useEffect, useImperativeHandle, useLayoutEffect, useRef, useState, type KeyboardEvent, type ReactNode, type Ref } from 'react'

// Browsers stop at some tens of millions of pixels. Above this many the bar stands for
// more rows than it has pixels for: scrolling then moves in larger steps, and every row
// is still reached.
const tallest = 16_000_000

export type Scroller = { show: (index: number) => void; end: () => void }

type Props = {
  count: number
  rowHeight: number
  label: string
  selected: number
  /** follow keeps the last row in view while rows are added, until somebody scrolls away. */
  follow?: boolean
  onSelect: (index: number) => void
  onRange: (first: number, last: number) => void
  row: (index: number) => ReactNode
  ref?: Ref<Scroller>
}

/** VirtualList shows rows of one height, and only those in view exist. */
export function VirtualList({ count, rowHeight, label, selected, follow = false, onSelect, onRange, row, ref }: Props) {
  const box = useRef<HTMLDivElement>(null)
  const [top, setTop] = useState(0)
  const [height, setHeight] = useState(600)
  const atEnd = useRef(follow)

  useLayoutEffect(() => {
    const element = box.current
    if (!element) return
    const measure = () => setHeight(element.clientHeight)
    measure()
    const watch = new ResizeObserver(measure)
    watch.observe(element)
    return () => watch.disconnect()
  }, [])

  const full = count * rowHeight
  const tall = Math.min(full, tallest)
  const range = Math.max(1, tall - height)
  // The place in rows that a place of the bar stands for.
  const ratio = full > height ? (full - height) / range : 1
  const offset = Math.min(top, range) * ratio
  const first = Math.max(0, Math.floor(offset / rowHeight) - 4)
  const last = Math.min(count - 1, Math.ceil((offset + height) / rowHeight) + 4)

  useEffect(() => { if (last >= first) onRange(first, last) }, [first, last, count, onRange])

  const scrollTo = (index: number) => {
    const element = box.current
    if (!element) return
    const want = Math.max(0, index * rowHeight - height / 2 + rowHeight / 2)
    element.scrollTop = want / ratio
    setTop(element.scrollTop)
  }
  const end = () => { atEnd.current = true; if (box.current) box.current.scrollTop = box.current.scrollHeight }
  useImperativeHandle(ref, () => ({ show: scrollTo, end }))
  useLayoutEffect(() => { if (follow && atEnd.current && box.current) box.current.scrollTop = box.current.scrollHeight }, [count, height, follow])

  const scrolled = () => {
    const element = box.current
    if (!element) return
    atEnd.current = element.scrollTop + element.clientHeight >= element.scrollHeight - rowHeight * 2
    setTop(element.scrollTop)
  }
  const keys = (event: KeyboardEvent) => {
    const page = Math.max(1, Math.floor(height / rowHeight) - 1)
    const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -count, End: count }
    const step = steps[event.key]
    if (step === undefined || count === 0) return
    event.preventDefault()
    const next = Math.max(0, Math.min(count - 1, (selected < 0 ? first : selected) + step))
    onSelect(next)
    if (next * rowHeight < offset + rowHeight || (next + 2) * rowHeight > offset + height) scrollTo(next)
  }
  const rows = []
  for (let i = first; i <= last; i++) {
    rows.push(
      <div key={i} id={`row-${i}`} role="option" aria-selected={i === selected} aria-setsize={count} aria-posinset={i + 1} className="vrow"
        style={{ height: rowHeight, transform: `translateY(${top + i * rowHeight - offset}px)` }} onClick={() => onSelect(i)}>
        {row(i)}
      </div>,
    )
  }
  return (
    <div ref={box} className="vlist" role="listbox" aria-label={label} tabIndex={0} onScroll={scrolled} onKeyDown={keys}
      aria-activedescendant={selected >= first && selected <= last ? `row-${selected}` : undefined}>
      <div role="presentation" style={{ height: tall, position: 'relative' }}>{rows}</div>
    </div>
  )
}
