import { architect } from './architect'
import { contract } from './contract'
import { lab } from './lab'
import type { Society, Tab } from './society'
import { solo } from './solo'
import { stages } from './stages'
import { world } from './world'

/** societies are all that the page knows, by their names. Nothing else on the page names one. */
const societies: Record<string, Society> = { lab, contract, architect, stages, world, solo }

export const societyOf = (name: string): Society => societies[name] ?? solo

/** favourite is the society that a form begins with, of those that the server has. */
export const favourite = (offered: string[]): string => (offered.includes('lab') ? 'lab' : (offered[0] ?? 'solo'))

const all = Object.values(societies)

/** tabAt finds a page by its address. A link to one may stand in a quest of another society. */
export const tabAt = (path: string): Tab | undefined => all.flatMap((s) => s.tabs).find((t) => t.path === path)

/** fieldNames are the keys of quest.yaml that some society has. */
export const fieldNames: string[] = [...new Set(all.flatMap((s) => [s.question, ...s.fields.map((f) => f.name)]))]

/** smallKinds are the kinds of nodes that need little room on a canvas. */
export const smallKinds: ReadonlySet<string> = new Set(['agent', 'person', ...all.flatMap((s) => s.small)])

/** markKinds are the kinds of nodes that are marks on others, with the kind of the edge that leads there. */
export const markKinds: ReadonlyMap<string, string> = new Map(all.flatMap((s) => Object.entries(s.marks ?? {})))
