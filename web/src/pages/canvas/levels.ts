import type { Place } from './layout'

/** Level is how much of a card can be read: a dot, its title, or all of it. */
export type Level = 'dots' | 'titles' | 'cards'

/** levelOf is what is drawn of cards at a zoom. */
export const levelOf = (zoom: number): Level => (zoom < 0.3 ? 'dots' : zoom < 0.85 ? 'titles' : 'cards')

/** outside says whether something is out of a window, which shows the graph moved by x and y and at a zoom. */
export function outside(places: readonly Place[], [x, y, zoom]: readonly [number, number, number], width: number, height: number): boolean {
  return places.some((p) => p.x * zoom + x < 0 || p.y * zoom + y < 0 || (p.x + p.width) * zoom + x > width || (p.y + p.height) * zoom + y > height)
}
