import { agentPath, get } from '../../api/client'
import type { Terminal } from '../../api/types'

export type Line = Terminal['lines'][number]

/** Stretch is a part of a log without a gap. The first line has the number base. */
export type Stretch = { base: number; lines: Line[]; /** nothing is before it */ whole: boolean; /** nothing was behind it */ end: boolean }

const size = 500
const most = 6000

/**
 * Log reads what happened in an agent's computer: first its end, then what is asked for
 * before and behind. It holds one stretch; if that grows long, its far side is let go.
 * The server gives what comes after a seq: what comes before one is found by going back
 * over ever more seqs until there is something.
 */
export class Log {
  at: Stretch | undefined
  private reach = size

  /** With from and to, only what happened behind the one and up to the other is read. */
  constructor(private readonly quest: string, private readonly agent: string, private readonly from = 0, private readonly to = Infinity) {}

  private async ask(where: string, gone: AbortSignal): Promise<Line[]> {
    return (await get<Terminal>(agentPath(this.quest, this.agent, `/terminal?${where}`), gone)).lines
  }

  /** tail begins at the end of the log. */
  async tail(gone: AbortSignal): Promise<void> {
    if (this.from > 0) {
      const part = await this.between(this.from, this.to, gone)
      this.at = { base: 0, lines: part.slice(-most), whole: true, end: true }
      return
    }
    const lines = await this.ask(`tail=${size}`, gone)
    this.at = { base: 0, lines, whole: lines.length < size, end: true }
  }

  /** later reads what came behind the last line, to the end or a page of it. */
  async later(gone: AbortSignal): Promise<void> {
    const { at } = this
    if (!at) return this.tail(gone)
    const fresh = (await this.ask(`after=${at.lines.at(-1)?.seq ?? this.from}&limit=${size}`, gone)).filter((l) => l.seq <= this.to)
    if (fresh.length === 0 && at.end) return
    const lines = [...at.lines, ...fresh]
    const over = Math.max(0, lines.length - most)
    this.at = { base: at.base + over, lines: lines.slice(over), whole: at.whole && over === 0, end: fresh.length < size }
  }

  /** earlier reads what came before the first line. */
  async earlier(gone: AbortSignal): Promise<void> {
    const { at } = this
    const first = at?.lines[0]?.seq ?? 0
    if (!at || at.whole || first === 0) return
    let found: Line[] = []
    let from = first - 1
    while (found.length === 0 && from > 0) {
      const to = from
      from = Math.max(0, to - this.reach)
      found = await this.between(from, to, gone)
      // Where the agent did little, more of the ledger is looked through for the next page.
      this.reach = found.length < size / 4 ? this.reach * 2 : size
    }
    if (found.length > 2 * size) {
      found = found.slice(-2 * size)
      from = (found[0]?.seq ?? 1) - 1
    }
    const lines = [...found, ...at.lines]
    const kept = lines.slice(0, most)
    this.at = { base: at.base - found.length, lines: kept, whole: from === 0, end: at.end && kept.length === lines.length }
  }

  // From behind one seq up to another, all there is.
  private async between(from: number, to: number, gone: AbortSignal): Promise<Line[]> {
    const found: Line[] = []
    for (let after = from; ;) {
      const lines = await this.ask(`after=${after}&limit=${size}`, gone)
      found.push(...lines.filter((l) => l.seq <= to))
      after = lines.at(-1)?.seq ?? to
      if (after >= to || lines.length < size) return found
    }
  }
}
