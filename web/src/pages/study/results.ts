import type { Metric, Recorded } from '../../api/types'
import type { Level, Point, Shape } from '../../ui/plot'

/** A Series is one metric over all results that have it; data is the hash of what it was measured on. */
export type Series = { name: string; unit?: string; better: 'higher' | 'lower'; data: string; points: Point[]; level?: Level }

const shapes: Record<string, Shape> = { verified: 'full', differs: 'cross', failed: 'square' }

const good = new Set(['verified', 'good', 'accept', 'approved', 'better'])
const bad = new Set(['differs', 'failed', 'bad', 'reject', 'worse'])

/** toneOf is the tone of a verdict: of a result, a decision or a review. */
export const toneOf = (verdict: string | undefined): string => (!verdict ? '' : good.has(verdict) ? 'good' : bad.has(verdict) ? 'bad' : 'warn')

const said: Record<string, string> = {
  verified: 'verified: run twice, with the same figures', differs: 'differs: another run printed another figure',
  failed: 'failed: its program did not end well',
}

/**
 * series makes plots of results: one for each metric that means the same, which is to say by name, unit, direction and what it was
 * measured on. The level is that of the last baseline that was verified, or of the last one. Only what is verified can be the best,
 * and no slice: it answers a question about another result.
 */
export function series(recorded: readonly Recorded[], href: (id: string) => string): Series[] {
  const all = new Map<string, Series & { values: { value: number; point: Point }[]; checked: boolean }>()
  for (const r of [...recorded].sort((a, b) => a.seq - b.seq)) {
    for (const m of r.metrics ?? []) {
      const key = [m.name, m.unit ?? '', m.direction, m.data].join('\n')
      const s = all.get(key) ?? { name: m.name, unit: m.unit || undefined, better: m.direction, data: m.data, points: [], values: [], checked: false }
      all.set(key, s)
      add(s, r, m, href)
    }
  }
  for (const s of all.values()) {
    const better = (a: number, b: number) => (s.better === 'higher' ? a > b : a < b)
    const best = s.values.reduce<typeof s.values[number] | undefined>((held, v) => (!held || better(v.value, held.value) ? v : held), undefined)
    if (best && s.points.length > 1) best.point.best = true
  }
  return [...all.values()].map(({ name, unit, better, data, points, level }) => ({ name, unit, better, data, points, level }))
}

function add(s: Series & { values: { value: number; point: Point }[]; checked: boolean }, r: Recorded, m: Metric, href: (id: string) => string): void {
  const verdict = r.verdict ?? ''
  const point: Point = { name: r.slice || r.branch.replace(/^run\//, '') || r.id, value: m.value, shape: shapes[verdict] ?? 'hollow', href: href(r.id),
    said: `${said[verdict] ?? `not checked${r.why ? `: ${r.why}` : ''}`}. ${r.title}` }
  s.points.push(point)
  if (verdict === 'verified' && !r.slice) s.values.push({ value: Number(m.value), point })
  const checked = verdict === 'verified'
  if (r.kind === 'baseline' && (checked || !s.checked)) {
    s.level = { name: `baseline ${r.branch || r.id}`, value: m.value, tolerance: m.tolerance || undefined }
    s.checked = checked
  }
}
