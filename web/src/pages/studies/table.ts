import type { StudyRow, StudyView } from '../../api/types'

/** By is what cells are put together by. */
export type By = 'model' | 'society' | 'seed'

/** Group is what came of the cells that have something in common. */
export type Group = {
  name: string
  cells: number
  /** answers are those of the group, the most frequent first */
  answers: { answer: string; count: number; /** first says that it is the study's most frequent */ first: boolean }[]
  cost: number
  /** seconds is the median of those that are over, undefined while none is */
  seconds?: number
  tokens: number
}

const started = (row: StudyRow) => row.state !== 'waiting'
/** isOver reports whether it is known what came of a cell. */
export const isOver = (row: StudyRow) => row.state !== 'waiting' && row.state !== 'open'

export function median(values: readonly number[]): number | undefined {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length / 2
  if (sorted.length === 0) return undefined
  const high = sorted[Math.floor(middle)] ?? 0
  return Number.isInteger(middle) ? ((sorted[middle - 1] ?? 0) + high) / 2 : high
}

/** grouped puts the cells of a study together, in the order of the first of each group. */
export function grouped(study: Pick<StudyView, 'rows' | 'answers'>, by: By): Group[] {
  const parts = new Map<string, StudyRow[]>()
  for (const row of study.rows) parts.set(row[by], [...(parts.get(row[by]) ?? []), row])
  return [...parts].map(([name, rows]) => ({
    name, cells: rows.length,
    answers: study.answers.flatMap((a, i) => {
      const count = rows.filter((r) => r.group === i + 1).length
      return count > 0 ? [{ answer: a.answer, count, first: i === 0 }] : []
    }).sort((a, b) => b.count - a.count),
    cost: rows.reduce((sum, r) => sum + Number(r.cost_usd), 0),
    tokens: rows.reduce((sum, r) => sum + r.tokens, 0),
    seconds: median(rows.filter(isOver).map((r) => r.seconds)),
  }))
}

/** standing is how a cell stands, in a word that the page has a colour for. */
export function standing(row: StudyRow): string {
  if (isOver(row)) return row.state
  if (!started(row)) return 'not begun'
  return row.standing ?? 'begins'
}

/** seedsOf are the numbers and ranges in a text. */
export const listOf = (text: string): string[] => text.split(/[,\s]+/).filter(Boolean)
