// The browser forgets where a page was scrolled to when what it shows is read only after one
// is back. So each entry of its history says so itself.

const patience = 3000
const calm = 150

// end: that was the page's end, and who is at the end of what grows wants to be there.
type Entry = { y: number; end: boolean }

const saved = () => history.state as Entry | null

let timer: number | undefined
let reaching = 0

function save(): void {
  if (reaching) return
  const { scrollHeight, clientHeight } = document.documentElement
  const entry: Entry = { y: Math.round(window.scrollY), end: scrollHeight > clientHeight && window.scrollY > scrollHeight - clientHeight - 4 }
  history.replaceState(entry, '')
}

// What is on the page is not as high yet as it was: it is tried until it is, or somebody scrolls.
function reach({ y, end }: Entry): void {
  const until = performance.now() + patience
  const mine = (reaching = until)
  const step = () => {
    if (reaching !== mine) return
    const there = () => (end ? window.scrollY > y - 1 : Math.abs(window.scrollY - y) <= 1)
    if (!there()) window.scrollTo(0, y)
    if (!there() && performance.now() < until) window.requestAnimationFrame(step)
    else reaching = 0
  }
  step()
}

/** keepPlaces has Back, Forward and a reload come to where one was. */
export function keepPlaces(): void {
  history.scrollRestoration = 'manual'
  const come = () => {
    window.clearTimeout(timer)
    reaching = 0
    const entry = saved()
    if (entry) reach(entry)
    else timer = window.setTimeout(save, calm)
  }
  const stop = () => { reaching = 0 }
  window.addEventListener('popstate', come)
  window.addEventListener('scroll', () => { window.clearTimeout(timer); timer = window.setTimeout(save, calm) }, { passive: true })
  for (const by of ['wheel', 'touchmove', 'pointerdown', 'keydown']) window.addEventListener(by, stop, { passive: true })
  come()
}

/** isBack reports whether one was at this entry of the history before. */
export const isBack = (): boolean => saved() !== null
