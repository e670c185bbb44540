import { useCallback, useRef } from 'react'
import { get, questPath, query } from '../../api/client'
import { usePages } from '../../api/pages'
import type { EventPage } from '../../api/types'

export type Filter = { type: string; actor: string; tool: string; text: string }

export const filtered = (f: Filter) => !!(f.type || f.actor || f.tool || f.text)

const size = 100

/** Row is an event, and the one that ended it if it is a call. */
export type Row = EventPage['events'][number] & { end?: EventPage['events'][number] }

/** Some is which events are listed: those of seqs, each with where its end stands, or all from first on. */
export type Some = { first: number; seqs?: number[]; ends?: number[] }

/** useRows reads the rows in view, a page at a time. */
export function useRows(quest: string, key: string, count: number, some: Some) {
  const known = useRef({ count, some })
  known.current = { count, some }
  const seqOf = useCallback((row: number) => (some.seqs ? (some.seqs[row] ?? 0) : some.first + row), [some])
  const pages = usePages<Row | undefined>(size, async (index, gone) => {
    const from = index * size
    const { seqs, ends, first } = known.current.some
    const wanted = Math.min(known.current.count, from + size) - from
    const seq = (i: number) => (seqs ? (seqs[from + i] ?? 0) : first + from + i)
    const end = (i: number) => (ends?.[from + i] ? seq(i) + (ends[from + i] ?? 0) : 0)
    const found = new Map<number, EventPage['events'][number]>()
    const ask = async (wish: Record<string, string | number>) => {
      const answer = await get<EventPage>(questPath(quest, `/events${query(wish)}`), gone)
      for (const row of answer.events) found.set(row.event.seq, row)
    }
    const all = Array.from({ length: wanted }, (_, i) => i)
    // What passes a filter may stand far apart: it is asked for by name.
    if (seqs) await ask({ seqs: [...all.map(seq), ...all.map(end)].filter((n) => n > 0).join(',') })
    else await ask({ after: String(first + from - 1), limit: wanted })
    const row = (i: number): Row | undefined => {
      const event = found.get(seq(i))
      return event && { ...event, end: found.get(end(i)) }
    }
    return { rows: all.map(row), settled: wanted === size && !(ends && all.some((i) => found.get(seq(i))?.event.type.endsWith('.call') && end(i) === 0)) }
  }, `${quest}|${key}`, String(count)) // the last page was not full when it was read

  const need = useCallback((first: number, last: number) => pages.want(first, last), [pages])
  const at = useCallback((row: number) => pages.at(row), [pages])
  return { need, at, seqOf, failure: pages.failure }
}

/** within cuts a sorted list to what lies between two events: where it begins, and where it is over. */
export function within(seqs: readonly number[], first: number, last: number): [number, number] {
  const place = (seq: number) => {
    let low = 0
    let high = seqs.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((seqs[middle] ?? 0) < seq) low = middle + 1
      else high = middle
    }
    return low
  }
  return [place(first), place(last + 1)]
}
