import { useCallback, useRef } from 'react'
import { get, questPath, query } from '../../api/client'
import { usePages } from '../../api/pages'
import type { EventPage } from '../../api/types'

export type Filter = { type: string; actor: string; tool: string; text: string }

export const filtered = (f: Filter) => !!(f.type || f.actor || f.tool || f.text)

const size = 200

type Row = EventPage['events'][number]

/**
 * useRows reads the rows in view, a page at a time. Without a filter row i is event
 * i+1; with one, seqs says which.
 */
export function useRows(quest: string, filter: Filter, count: number, seqs: number[] | undefined) {
  const known = useRef({ count, seqs })
  known.current = { count, seqs }
  const seqOf = useCallback((row: number) => (seqs ? (seqs[row] ?? 0) : row + 1), [seqs])
  const key = `${quest}|${filter.type}|${filter.actor}|${filter.tool}|${filter.text}`
  const pages = usePages<Row | undefined>(size, async (index, gone) => {
    const from = index * size
    const wanted = Math.min(known.current.count, from + size) - from
    const seq = (i: number) => known.current.seqs?.[from + i] ?? from + i + 1
    const found = new Map<number, Row>()
    const ask = async (wish: Record<string, string | number>) => {
      const answer = await get<EventPage>(questPath(quest, `/events${query(wish)}`), gone)
      for (const row of answer.events) found.set(row.event.seq, row)
    }
    // What passes a filter may stand far apart: it is asked for by name.
    if (known.current.seqs) await ask({ seqs: Array.from({ length: wanted }, (_, i) => seq(i)).join(',') })
    else await ask({ after: String(from), limit: wanted })
    return { rows: Array.from({ length: wanted }, (_, i) => found.get(seq(i))), settled: wanted === size }
  }, key, String(count)) // the last page was not full when it was read

  const need = useCallback((first: number, last: number) => pages.want(first, last), [pages])
  const at = useCallback((row: number) => pages.at(row), [pages])
  return { need, at, seqOf, failure: pages.failure }
}
