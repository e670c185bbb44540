import type { Heights } from './heights'

export type Range = { from: number; to: number }

// What is drawn beyond the window, so that a quick turn of the wheel finds something.
const beyond = 600
const nearEnd = 4

/**
 * Place knows which rows of a long list are near the window, and keeps what is read where
 * it is on the screen: while rows above it come, are measured or grow, it makes up for them
 * by scrolling. Whoever is at the end stays at the end.
 */
export class Place {
  box: HTMLElement | null = null
  inner: HTMLElement | null = null
  private readonly elements = new Map<number, Element>()
  // What stays: a row, by how far the window's top is below its own; or the end. loose: a
  // list of the page begins inside the window, where nothing above it is to be made up for.
  private kept: { row: number; into: number; end: boolean; loose: boolean }
  private last = 0

  /**
   * own: the list scrolls in its box, and not with the page. follow: it begins at its end.
   * looked is told when other rows may be near the window, moved when rows have other heights.
   */
  constructor(readonly heights: Heights, private readonly own: boolean, first: number, follow: boolean,
    private readonly looked: (near: Range) => void, private readonly moved: () => void) {
    this.kept = { row: first, into: 0, end: follow, loose: true }
  }

  /** hold takes the rows that there are now. */
  hold(first: number, count: number): void {
    // Where somebody scrolled to meanwhile is told in rows that are still in their places.
    if (this.inner && this.strayed()) this.keep()
    this.heights.hold(first, count)
  }

  range(): Range {
    const { top, height } = this.where()
    return { from: this.heights.at(top - beyond), to: this.heights.at(top + height + beyond) }
  }

  /** measure reads the heights of the rows that exist, and reports whether anything moved. */
  measure(): boolean {
    let moved = false
    for (const [n, element] of this.elements) moved = this.heights.set(n, element.getBoundingClientRect().height) || moved
    return moved
  }

  /** settle scrolls to where what is kept is in its place again. */
  settle(): void {
    // Somebody scrolled, and the browser has not told yet: that is not to be undone.
    if (this.strayed()) this.keep()
    const { row, into, end, loose } = this.kept
    if (loose && !end) return
    const s = this.scroller()
    const by = end ? s.scrollHeight - s.clientHeight - s.scrollTop : this.heights.top(row) + into - this.where().top
    if (Math.abs(by) >= 1) s.scrollTop += by
    this.last = s.scrollTop
  }

  show(row: number): void {
    this.order({ row, into: -this.where().height / 4, end: false, loose: false })
  }

  end(): void {
    this.order({ end: true })
  }

  begin(): void {
    this.scroller().scrollTop = 0
    this.order({ row: this.heights.first, into: 0, end: false, loose: true })
  }

  /** add has a row's element measured until it is gone, which the returned function says. */
  add(n: number, element: Element): () => void {
    this.elements.set(n, element)
    this.grown.observe(element)
    return () => {
      this.grown.unobserve(element)
      if (this.elements.get(n) === element) this.elements.delete(n)
    }
  }

  /** listen has it notice scrolling, keys and changes of size, until the returned function is called. */
  listen(): () => void {
    const target: EventTarget = this.own && this.box ? this.box : window
    const scrolled = () => { this.keep(); this.looked(this.range()) }
    const resized = () => { this.settle(); this.looked(this.range()) }
    const pressed = (event: Event) => this.pressed(event as KeyboardEvent)
    // What stands around the list may grow too.
    const around = new ResizeObserver(resized)
    around.observe(this.own && this.box ? this.box : document.body)
    target.addEventListener('scroll', scrolled, { passive: true })
    target.addEventListener('keydown', pressed)
    return () => {
      around.disconnect()
      target.removeEventListener('scroll', scrolled)
      target.removeEventListener('keydown', pressed)
    }
  }

  private readonly grown = new ResizeObserver(() => { if (this.measure()) this.moved() })

  // The browser would go to where the end was taken to be, and rows turn out higher on the way.
  private pressed(event: KeyboardEvent): void {
    const { key, ctrlKey, altKey, metaKey, target: on } = event
    if ((key !== 'End' && key !== 'Home') || ctrlKey || altKey || metaKey || document.querySelector('dialog[open]')) return
    if (on instanceof Element && on !== this.box && on.closest('input, textarea, select, [role=listbox], [role=tablist], .mlist.own, pre')) return
    event.preventDefault()
    if (key === 'End') this.end()
    else this.begin()
  }

  private order(to: Partial<typeof this.kept>): void {
    this.kept = { ...this.kept, ...to }
    this.last = this.scroller().scrollTop
    this.settle()
    this.looked(this.range())
  }

  private keep(): void {
    const { top } = this.where()
    const s = this.scroller()
    const row = this.heights.at(top)
    const by = s.scrollTop - this.last
    const below = s.scrollHeight - s.clientHeight - s.scrollTop
    this.last = s.scrollTop
    // Up, and yet at the very end: nobody scrolled, but what was below is gone. It may come back.
    if (by < -1 && below < 1) return
    // Whoever was at the end and did not go up still wants to be there: what came below is newer.
    // Nobody comes to it but by going down: the end may also come to them.
    const end = this.kept.end ? by >= -1 || below <= nearEnd : by > 0 && below <= nearEnd
    this.kept = { row, into: top - this.heights.top(row), end, loose: !this.own && top < 0 }
  }

  private strayed(): boolean {
    return Math.abs(this.scroller().scrollTop - this.last) > 1
  }

  private scroller(): Element {
    return (this.own && this.box) || document.scrollingElement || document.documentElement
  }

  // How far the window's top is below the list's, and how high the window is.
  private where(): { top: number; height: number } {
    const frame = this.own ? this.box?.getBoundingClientRect() : undefined
    return { top: (frame?.top ?? 0) - (this.inner?.getBoundingClientRect().top ?? 0), height: frame?.height ?? window.innerHeight }
  }
}
