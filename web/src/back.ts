// The browser forgets where a page was scrolled to when what it shows is read only after one
// is back. So each entry of its history says so itself.

const patience = 3000
const calm = 150

type Entry = { y?: number } | null

const saved = (): number | undefined => (history.state as Entry)?.y

let timer: number | undefined
let reaching = 0

function save(): void {
  if (!reaching) history.replaceState({ ...(history.state as Entry), y: Math.round(window.scrollY) }, '')
}

// What is on the page is not as high yet as it was: it is tried until it is, or somebody scrolls.
function reach(y: number): void {
  const until = performance.now() + patience
  const mine = (reaching = until)
  const step = () => {
    if (reaching !== mine) return
    window.scrollTo(0, y)
    if (Math.abs(window.scrollY - y) > 1 && performance.now() < until) window.requestAnimationFrame(step)
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
    const y = saved()
    if (y !== undefined) reach(y)
    else timer = window.setTimeout(save, calm)
  }
  const stop = () => { reaching = 0 }
  window.addEventListener('popstate', come)
  window.addEventListener('scroll', () => { window.clearTimeout(timer); timer = window.setTimeout(save, calm) }, { passive: true })
  for (const by of ['wheel', 'touchmove', 'pointerdown', 'keydown']) window.addEventListener(by, stop, { passive: true })
  come()
}

/** isBack reports whether one was at this entry of the history before. */
export const isBack = (): boolean => saved() !== undefined
