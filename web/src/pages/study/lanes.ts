import type { BranchNode, EventNode, StudyEdge } from '../../api/types'

/** A Lane is a line of work as it is drawn: a row of its own, below the one it came from. */
export type Lane = {
  ref: string
  node: BranchNode
  row: number
  depth: number
  /** rails are the depths at which a line goes on past this row to a later one. */
  rails: number[]
  /** last says that no other child of the same parent follows. */
  last: boolean
  /** children is how many there are below it in all; folded says that they are not shown. */
  children: number
  folded: boolean
}

/** nameOf is what a line of work is called where it stands below the one it came from, which an analysis has in its name. */
export const nameOf = (node: BranchNode): string => (node.branch_kind === 'analysis' ? node.label : node.ref)

/** subjectOf is what its last checkpoint says, without its name once more. */
export function subjectOf(node: BranchNode): string {
  const said = node.subject ?? ''
  return said.startsWith(`${node.ref}: `) ? said.slice(node.ref.length + 2) : said
}

/** lineage are the branches that one came from and those that came from it. */
export function lineage(nodes: readonly BranchNode[], ref: string): Set<string> {
  const parents = new Map(nodes.map((n) => [n.ref, n.parent_ref ?? '']))
  const out = new Set<string>()
  for (let at = ref; at && !out.has(at); at = parents.get(at) ?? '') out.add(at)
  for (const node of nodes) {
    const way: string[] = []
    const seen = new Set<string>()
    for (let at = node.ref; at && !seen.has(at); at = parents.get(at) ?? '') {
      seen.add(at)
      way.push(at)
      if (at !== ref) continue
      for (const r of way) out.add(r)
      break
    }
  }
  return out
}

/**
 * lanes puts branches below each other, children under their parents in the order in which they came. Those below a
 * folded one are left out; only, if given, are the ones that are shown at all.
 */
export function lanes(nodes: readonly BranchNode[], folded: ReadonlySet<string>, only?: ReadonlySet<string>): Lane[] {
  const shown = nodes.filter((n) => !only || only.has(n.ref))
  const known = new Set(shown.map((n) => n.ref))
  const below = new Map<string, BranchNode[]>()
  const parentOf = (n: BranchNode) => (n.parent_ref && n.parent_ref !== n.ref && known.has(n.parent_ref) ? n.parent_ref : '')
  for (const n of [...shown].sort((a, b) => (a.seq ?? 0) - (b.seq ?? 0) || (a.ref < b.ref ? -1 : 1))) {
    const parent = parentOf(n)
    const list = below.get(parent)
    if (list) list.push(n)
    else below.set(parent, [n])
  }
  const sizes = new Map<string, number>()
  const size = (ref: string, way: number): number => {
    const held = sizes.get(ref)
    if (held !== undefined || way > nodes.length) return held ?? 0
    const all = (below.get(ref) ?? []).reduce((sum, n) => sum + 1 + size(n.ref, way + 1), 0)
    sizes.set(ref, all)
    return all
  }
  const out: Lane[] = []
  const walk = (parent: string, depth: number, rails: number[]) => {
    const list = below.get(parent) ?? []
    list.forEach((node, i) => {
      const last = i === list.length - 1
      const isFolded = folded.has(node.ref) && size(node.ref, 0) > 0
      out.push({ ref: node.ref, node, row: out.length, depth, rails, last, children: size(node.ref, 0), folded: isFolded })
      if (!isFolded) walk(node.ref, depth + 1, last ? rails : [...rails, depth])
    })
  }
  walk('', 0, [])
  return out
}

/** A Chip is an event on a lane. */
export type Chip = { id: string; row: number; column: number; event: EventNode }

/**
 * chips puts events on their lanes, each right of what stands before it on its lane and of all that leads to it: so every
 * edge goes to the right. The work grows with events plus edges.
 */
export function chips(events: readonly EventNode[], edges: readonly StudyEdge[], rows: readonly Lane[]): { chips: Chip[]; columns: number } {
  const row = new Map(rows.map((l) => [l.ref, l.row]))
  const order = [...events].sort((a, b) => a.seq - b.seq)
  const rank = new Map(order.map((e, i) => [e.selection_ref, i]))
  const before: number[][] = order.map(() => [])
  for (const edge of edges) {
    const a = rank.get(edge.from)
    const b = rank.get(edge.to)
    if (a !== undefined && b !== undefined && a !== b) before[Math.max(a, b)]?.push(Math.min(a, b))
  }
  const at: number[] = []
  const free = new Map<number, number>()
  const out: Chip[] = []
  let columns = 0
  order.forEach((event, i) => {
    const lane = row.get(event.branch)
    if (lane === undefined) { at[i] = -1; return }
    let column = free.get(lane) ?? 0
    for (const p of before[i] ?? []) column = Math.max(column, (at[p] ?? -1) + 1)
    at[i] = column
    free.set(lane, column + 1)
    columns = Math.max(columns, column + 1)
    out.push({ id: event.selection_ref, row: lane, column, event })
  })
  return { chips: out, columns }
}
