import { useLayoutEffect, useRef, useState, type ReactNode } from 'react'
import { MeasuredList } from './measured'

const few = 12
const gap = 16

/** CardGrid sets cards side by side, as many as there is room for; of many only those near the window exist. */
export function CardGrid<T>({ items, least, guess, label, card }: { items: readonly T[]; /** the least width of a card */ least: number;
  guess: number; label: string; card: (item: T) => ReactNode }) {
  const box = useRef<HTMLDivElement>(null)
  const [columns, setColumns] = useState(1)
  useLayoutEffect(() => {
    const element = box.current
    if (!element) return
    const measure = () => setColumns(Math.max(1, Math.floor((element.clientWidth + gap) / (least + gap))))
    measure()
    const watch = new ResizeObserver(measure)
    watch.observe(element)
    return () => watch.disconnect()
  }, [least])
  const row = (n: number) => <div className="cards" style={{ gridTemplateColumns: `repeat(${columns}, minmax(0, 1fr))` }}>
    {items.slice(n * columns, (n + 1) * columns).map(card)}</div>
  return (
    <div ref={box}>
      {items.length <= few ? <div className="columns">{items.map(card)}</div>
        : <MeasuredList key={columns} className="card-rows" count={Math.ceil(items.length / columns)} guess={guess} label={label} row={row} />}
    </div>
  )
}
