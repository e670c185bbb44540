/** Act is what a key stands for. */
export type Act = { kind: 'go'; to: string } | { kind: 'help' } | { kind: 'find' } | { kind: 'search' } | { kind: 'step'; by: 1 | -1 } | { kind: 'wait' }

/** jumps are the keys after g, with where they lead; those that need a quest have its page, tab
 * where only some societies have that. */
export const jumps: { key: string; name: string; to?: string; page?: string; tab?: boolean }[] = [
  { key: 'q', name: 'all quests', to: '#/' }, { key: 'n', name: 'a new quest', to: '#/new' }, { key: 'm', name: 'compare', to: '#/compare' },
  { key: 'y', name: 'studies', to: '#/studies' },
  { key: 's', name: 'settings', to: '#/settings' },
  { key: 'o', name: 'overview of the quest', page: '' }, { key: 'c', name: 'its canvas', page: 'canvas' }, { key: 't', name: 'its timeline', page: 'timeline' },
  { key: 'p', name: 'its papers', page: 'papers', tab: true },
  { key: 'a', name: 'its agents', page: 'agents' }, { key: 'e', name: 'its evidence', page: 'evidence', tab: true },
]

/** keys are all others, for the list that ? shows. */
export const keys: [string, string][] = [
  ['?', 'this list'], ['Ctrl K', 'find a quest, paper, agent or event'], ['/', 'the search field of the page'], ['j', 'the next row'], ['k', 'the row before'],
  ['Enter', 'open it'], ['Esc', 'close what is open'], ['← →', 'read a plot, move the lanes'], ['+ - 0', 'zoom the lanes, or show all of them'],
]

type Pressed = { key: string; ctrlKey: boolean; metaKey: boolean; altKey: boolean }

/** act is what a key means: after a g or not, in a quest or not. Where somebody writes, only Ctrl K means something. */
export function act(pressed: Pressed, after: boolean, quest: string | undefined, writing: boolean): Act | undefined {
  if ((pressed.ctrlKey || pressed.metaKey) && !pressed.altKey && pressed.key.toLowerCase() === 'k') return { kind: 'find' }
  if (writing || pressed.ctrlKey || pressed.metaKey || pressed.altKey) return undefined
  if (after) {
    const jump = jumps.find((j) => j.key === pressed.key)
    if (jump?.to) return { kind: 'go', to: jump.to }
    return jump?.page !== undefined && quest ? { kind: 'go', to: `#/q/${encodeURIComponent(quest)}${jump.page && `/${jump.page}`}` } : undefined
  }
  switch (pressed.key) {
    case '?': return { kind: 'help' }
    case '/': return { kind: 'search' }
    case 'g': return { kind: 'wait' }
    case 'j': return { kind: 'step', by: 1 }
    case 'k': return { kind: 'step', by: -1 }
    default: return undefined
  }
}

/** Found is a place that the finder knows. */
export type Found = { kind: string; name: string; note?: string; to: string }

/** ranked are the places that have all words, those whose name begins with them first. */
export function ranked(all: readonly Found[], find: string, most: number): Found[] {
  const words = find.toLowerCase().split(/\s+/).filter(Boolean)
  const scored = all.flatMap((f): [number, Found][] => {
    const name = f.name.toLowerCase()
    const text = `${name} ${f.kind} ${f.note?.toLowerCase() ?? ''}`
    if (!words.every((w) => text.includes(w))) return []
    return [[name.startsWith(words[0] ?? '') ? 0 : name.includes(words[0] ?? '') ? 1 : 2, f]]
  })
  return scored.sort((a, b) => a[0] - b[0]).slice(0, most).map(([, f]) => f)
}

/** numbered is an event that somebody names by its number. */
export function numbered(find: string, quest: string | undefined, head: number): Found | undefined {
  const seq = Number(/^#?(\d{1,12})$/.exec(find.trim())?.[1] ?? 0)
  if (!quest || seq < 1 || seq > head) return undefined
  return { kind: 'event', name: `event ${seq}`, to: `#/q/${encodeURIComponent(quest)}/timeline?seq=${seq}` }
}
