import type { Summary } from '../api/types'

/** money shows dollars in cents, and less than a cent with two digits that say something. */
export function money(usd: string): string {
  const value = Number(usd)
  if (value !== 0 && value < 0.00995) return `$${Number(value.toPrecision(2)).toFixed(9).replace(/0+$/, '')}`
  return `$${value.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`
}

/** price is what something has cost. What nobody knows is unknown, and never nothing. */
export function price(usd: string | null, atLeast = '0'): string {
  if (usd !== null) return money(usd)
  return Number(atLeast) > 0 ? `at least ${money(atLeast)}` : 'unknown'
}

/** several is a number of things: 1 turn, 12,345 turns. */
export const several = (n: number, one: string) => `${count(n)} ${n === 1 ? one : `${one}s`}`

export const count = (n: number) => n.toLocaleString('en-US')

export function short(n: number): string {
  if (n < 10_000) return count(Math.round(n))
  if (n < 1_000_000) return `${(n / 1000).toFixed(n < 100_000 ? 1 : 0)}k`
  return `${(n / 1_000_000).toFixed(1)}M`
}

export function duration(seconds: number): string {
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`
  if (seconds < 60) return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`
  if (seconds < 3600) return two(Math.floor(seconds / 60), 'min', Math.floor(seconds % 60), 's')
  return two(Math.floor(seconds / 3600), 'h', Math.floor((seconds % 3600) / 60), 'min')
}

const two = (a: number, big: string, b: number, small: string) => (b === 0 ? `${a} ${big}` : `${a} ${big} ${b} ${small}`)

export function bytes(n: number): string {
  if (n < 1024) return `${n} B`
  if (n < 1024 * 1024) return `${(n / 1024).toFixed(1)} KiB`
  return `${(n / 1024 / 1024).toFixed(1)} MiB`
}

export const clock = (time: string) => time.slice(11, 19)

export function When({ time }: { time: string }) {
  const date = new Date(time)
  const ago = (Date.now() - date.getTime()) / 1000
  const text = ago >= 0 && ago < 60 ? 'just now'
    : ago >= 0 && ago < 3600 ? `${Math.floor(ago / 60)} min ago`
    : ago >= 0 && ago < 86_400 ? `${Math.floor(ago / 3600)} h ago`
    : date.toLocaleDateString(undefined, { day: 'numeric', month: 'short', year: 'numeric' })
  return <time dateTime={time} title={date.toLocaleString()}>{text}</time>
}

/** moment is a time to the minute, as the reader's clock has it. */
export const moment = (time: string) => new Date(time).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' })

type Status = Summary['status']

const tones: Partial<Record<Status, string>> = {
  running: 'live', finished: 'good', completed_with_warnings: 'warn', failed: 'bad', damaged: 'bad', other_rules: 'bad',
  paused: 'warn', exceeded: 'warn', interrupted: 'warn', waiting: 'asks',
}
const names: Partial<Record<Status, string>> = {
  completed_with_warnings: 'finished, with warnings', exceeded: 'out of budget', other_rules: 'other rules',
}

export const StatusBadge = ({ status }: { status: Status }) => (
  <span className={`badge ${tones[status] ?? ''}`}>{names[status] ?? status}</span>
)

/** Held says that a process has a quest that rests: it can be paused and held, or paused and nobody's. */
export const Held = ({ quest }: { quest: Pick<Summary, 'held' | 'running'> }) => (
  quest.held && !quest.running ? <span className="badge">held by a process</span> : null
)

/** Away says that agents of a quest wait for a provider: nothing else gives a quest that runs a reason. */
export const Away = ({ quest }: { quest: Pick<Summary, 'status' | 'reason'> }) => (
  quest.status === 'running' && quest.reason ? <span className="badge warn" title={quest.reason}>waits for a provider</span> : null
)

/** Asked says how many questions are open, nothing if none is. */
export const Asked = ({ open }: { open: number }) => (open > 0 ? <span className="badge asks">{questions(open)}</span> : null)

export const questions = (n: number) => (n === 1 ? '1 question' : `${n} questions`)

export const Badge = ({ tone = '', children }: { tone?: string; children: React.ReactNode }) => (
  <span className={`badge ${tone}`}>{children}</span>
)
