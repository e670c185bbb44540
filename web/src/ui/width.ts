import { useLayoutEffect, useState, type RefObject } from 'react'

/** useWidth is how wide an element is, in pixels, 0 before it is there. */
export function useWidth(box: RefObject<HTMLElement | null>): number {
  const [wide, setWide] = useState(0)
  useLayoutEffect(() => {
    const element = box.current
    if (!element) return
    const measure = () => setWide(element.clientWidth)
    measure()
    const watch = new ResizeObserver(measure)
    watch.observe(element)
    return () => watch.disconnect()
  }, [box])
  return wide
}
