import { useCallback, useMemo, useState } from 'react'
import { get, questPath, query } from '../../api/client'
import type { Event, EventPage } from '../../api/types'

export type Filter = { type: string; actor: string; tool: string; text: string }

export const filtered = (f: Filter) => !!(f.type || f.actor || f.tool || f.text)

const size = 200
const keep = 80

type Page = { events: Map<number, { event: Event; input: boolean }>; asked: number }

/**
 * useRows reads the rows in view, a page at a time. Without a filter row i is event
 * i+1; with one, seqs says which. Pages out of sight are forgotten when there are many.
 */
export function useRows(quest: string, filter: Filter, count: number, seqs: number[] | undefined) {
  const [, bump] = useState(0)
  const key = `${quest}|${filter.type}|${filter.actor}|${filter.tool}|${filter.text}`
  // Another filter begins with nothing, from the first time it is drawn.
  const pages = useMemo(() => new Map<number, Page>(), [key])

  const seqOf = useCallback((row: number) => (seqs ? (seqs[row] ?? 0) : row + 1), [seqs])

  const load = useCallback(async (index: number) => {
    const from = index * size
    const until = Math.min(count, from + size)
    const held = pages.get(index)
    // A page that was not full when it was read has to be read again once rows were added.
    if (held && held.asked >= until - from) return
    const page: Page = { events: held?.events ?? new Map(), asked: until - from }
    pages.set(index, page)
    try {
      let after = seqOf(from) - 1
      while (page.events.size < until - from) {
        const answer = await get<EventPage>(questPath(quest, `/events${query({ after: String(after), limit: until - from, ...filter })}`))
        for (const row of answer.events) page.events.set(row.event.seq, row)
        if (answer.next === undefined || answer.next <= after) break
        after = answer.next
      }
    } catch {
      // The row says that it is not there yet; coming by again asks again.
      pages.delete(index)
      return
    }
    forget(pages, index)
    bump((n) => n + 1)
  }, [pages, count, seqOf])

  const need = useCallback((first: number, last: number) => {
    for (let i = Math.floor(first / size); i <= Math.floor(last / size); i++) void load(i)
  }, [load])

  const at = useCallback((row: number) => pages.get(Math.floor(row / size))?.events.get(seqOf(row)), [pages, seqOf])
  return { need, at, seqOf }
}

function forget(pages: Map<number, Page>, near: number): void {
  if (pages.size <= keep) return
  const far = [...pages.keys()].sort((a, b) => Math.abs(b - near) - Math.abs(a - near))
  for (const index of far.slice(0, pages.size - keep)) pages.delete(index)
}
