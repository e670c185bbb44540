import { useEffect } from 'react'
import type { Summary } from '../api/types'
import { titled } from './title'

type Status = Summary['status']

// A sign in front of the title, and a shape in the corner of the icon: a tab among others says how its quest stands, also without colour.
const temple = 'M16 3 29 10v3H3v-3zM6 15h3v9H6zm8.500 0h3v9h-3zM23 15h3v9h-3zM3 26h26v3H3z'
const shapes = {
  runs: ['▶', '#2b5a8c', 'M20 18v12l10-6z'],
  good: ['✓', '#25693f', 'M18 24l4 4 8-9-2-2-6 6-2-2z'],
  bad: ['✕', '#a5312c', 'M19 17l5 5 5-5 2 2-5 5 5 5-2 2-5-5-5 5-2-2 5-5-5-5z'],
  rests: ['‖', '#80540a', 'M19 18h4v12h-4zM26 18h4v12h-4z'],
  asks: ['', '#6b3fa0', 'M24 17a7 7 0 1 0 .01 0z'],
} as const

const standing: Partial<Record<Status, keyof typeof shapes>> = {
  running: 'runs', finished: 'good', completed_with_warnings: 'good', failed: 'bad', damaged: 'bad', other_rules: 'bad',
  paused: 'rests', stopped: 'rests', exceeded: 'rests', interrupted: 'rests', waiting: 'asks',
}

const shapeOf = (status: Status | undefined, asked: number) => (asked > 0 ? 'asks' : status && standing[status])

/** titleOf is what a tab is called: the questions that wait for the reader come before how the quest stands. */
export function titleOf(name: string, status: Status | undefined, asked: number): string {
  const shape = shapeOf(status, asked)
  const sign = asked === 0 && shape ? shapes[shape][0] : ''
  return titled(sign ? `${sign} ${name}` : name, asked)
}

/** iconOf is a picture for a tab, as an address. */
export function iconOf(status: Status | undefined, asked: number): string {
  const shape = shapeOf(status, asked)
  if (!shape) return './icon.svg'
  const [, colour, path] = shapes[shape]
  const drawn = `<path fill="#3d5a80" d="${temple}"/><circle cx="24" cy="24" r="9" fill="#fff"/><path fill="${colour}" d="${path}"/>`
  return `data:image/svg+xml,${encodeURIComponent(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">${drawn}</svg>`)}`
}

/** useTab has the browser's tab say how a quest stands. */
export function useTab(name: string, status: Status | undefined, asked: number): void {
  useEffect(() => { document.title = titleOf(name, status, asked) }, [name, status, asked])
  useEffect(() => {
    const link = document.querySelector<HTMLLinkElement>('link[rel="icon"]')
    if (link) link.href = iconOf(status, asked)
    return () => { if (link) link.href = './icon.svg' }
  }, [status, asked])
}
