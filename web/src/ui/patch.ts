/** A Line of a hunk. The numbers are those of the file before and after. */
export type Line = { kind: ' ' | '+' | '-'; text: string; before?: number; after?: number; /** no line break follows */ open?: boolean }

export type Hunk = { header: string; lines: Line[] }

export type FileKind = 'changed' | 'added' | 'removed' | 'renamed' | 'copied' | 'mode'

/** A FileDiff is what a patch does to one file. */
export type FileDiff = {
  from: string
  to: string
  kind: FileKind
  binary: boolean
  /** size is how many bytes a binary file has afterwards, where the patch tells. */
  size?: number
  modes?: [string, string]
  added: number
  removed: number
  hunks: Hunk[]
}

/** name is what a file is called afterwards, or was called if it is gone. */
export const nameOf = (file: FileDiff): string => (file.kind === 'removed' ? file.from : file.to) || file.from || file.to

/**
 * parsePatch reads what git diff writes, or any unified difference. A patch comes from an
 * agent: whatever it holds, it is read as far as it makes sense, and nothing is thrown.
 */
export function parsePatch(text: string): FileDiff[] {
  const reader = new Reader(text)
  while (reader.more()) reader.step()
  return reader.files.map(settled)
}

const start = (): FileDiff => ({ from: '', to: '', kind: 'changed', binary: false, added: 0, removed: 0, hunks: [] })

class Reader {
  files: FileDiff[] = []
  private readonly lines: string[]
  private at = 0
  private file: FileDiff | undefined

  constructor(text: string) {
    this.lines = text.split('\n')
    if (this.lines.at(-1) === '') this.lines.pop()
  }

  more = () => this.at < this.lines.length

  private begin(): FileDiff {
    this.file = start()
    this.files.push(this.file)
    return this.file
  }

  step(): void {
    const line = (this.lines[this.at++] ?? '').replace(/\r$/, '')
    if (line.startsWith('diff --git ')) {
      const [from, to] = gitNames(line.slice('diff --git '.length))
      Object.assign(this.begin(), { from, to })
      return
    }
    // Without git's own line, the names of the two files begin a new one.
    if (line.startsWith('--- ') && this.lines[this.at]?.startsWith('+++ ')) {
      if (!this.file || this.file.hunks.length > 0) this.begin()
      this.names(line.slice(4), (this.lines[this.at++] ?? '').slice(4))
      return
    }
    const hunk = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(line)
    if (hunk && this.file && !this.file.binary) return this.hunk(this.file, line, hunk)
    if (this.file && this.file.hunks.length === 0) this.header(this.file, line)
  }

  private names(from: string, to: string): void {
    if (!this.file) return
    const a = plainName(from)
    const b = plainName(to)
    if (a === null) this.file.kind = 'added'
    else this.file.from = a
    if (b === null) this.file.kind = 'removed'
    else this.file.to = b
  }

  private header(file: FileDiff, line: string): void {
    const [, key = '', value = ''] = /^(new file mode|deleted file mode|old mode|new mode|rename from|rename to|copy from|copy to|literal|delta) (.*)$/.exec(line) ?? []
    switch (key) {
      case 'new file mode': file.kind = 'added'; break
      case 'deleted file mode': file.kind = 'removed'; break
      case 'old mode': file.modes = [value, file.modes?.[1] ?? '']; break
      case 'new mode': file.modes = [file.modes?.[0] ?? '', value]; break
      case 'rename from': file.kind = 'renamed'; file.from = unquote(value); break
      case 'rename to': file.to = unquote(value); break
      case 'copy from': file.kind = 'copied'; file.from = unquote(value); break
      case 'copy to': file.to = unquote(value); break
      // The first of two is what the file becomes; what it was follows.
      case 'literal': if (file.binary && file.size === undefined) file.size = Number(value) || 0; break
    }
    if (line === 'GIT binary patch' || (line.startsWith('Binary files ') && line.endsWith(' differ'))) file.binary = true
  }

  // The counts of a hunk say where it ends: a line of it may read like anything.
  private hunk(file: FileDiff, header: string, match: RegExpExecArray): void {
    let [before, after] = [Number(match[1]), Number(match[3])]
    let [old, fresh] = [Number(match[2] ?? 1), Number(match[4] ?? 1)]
    const lines: Line[] = []
    file.hunks.push({ header, lines })
    for (; this.more(); this.at++) {
      const line = this.lines[this.at] ?? ''
      const kind = line[0]
      const last = lines.at(-1)
      if (kind === '\\') {
        if (last) last.open = true
        continue
      }
      if (old <= 0 && fresh <= 0) return
      const text = line.slice(1)
      if (kind === '+') {
        lines.push({ kind, text, after: after++ })
        file.added++
        fresh--
      } else if (kind === '-') {
        lines.push({ kind, text, before: before++ })
        file.removed++
        old--
      } else if (kind === ' ' || kind === undefined) {
        lines.push({ kind: ' ', text, before: before++, after: after++ })
        old--
        fresh--
      } else return
    }
  }
}

function settled(file: FileDiff): FileDiff {
  if (file.kind === 'changed' && file.modes && file.hunks.length === 0 && !file.binary) return { ...file, kind: 'mode' }
  return file
}

// git writes both names in one line without saying where the second begins: where they are the
// same, as they are unless it says otherwise below, it begins in the middle.
function gitNames(rest: string): [string, string] {
  const quoted = /^("(?:[^"\\]|\\.)*") ("(?:[^"\\]|\\.)*")$/.exec(rest)
  if (quoted) return [strip(unquote(quoted[1] ?? '')), strip(unquote(quoted[2] ?? ''))]
  const half = (rest.length - 1) / 2
  if (rest[half] === ' ') {
    const [a, b] = [strip(rest.slice(0, half)), strip(rest.slice(half + 1))]
    if (a === b) return [a, b]
  }
  const cut = rest.indexOf(' b/')
  return cut < 0 ? [strip(rest), strip(rest)] : [strip(unquote(rest.slice(0, cut))), strip(unquote(rest.slice(cut + 1)))]
}

const strip = (name: string) => name.replace(/^[ab]\//, '')

function plainName(text: string): string | null {
  const name = text.replace(/\r$/, '').replace(/\t.*$/, '')
  return name === '/dev/null' ? null : strip(unquote(name))
}

const escapes: Record<string, number> = { a: 7, b: 8, t: 9, n: 10, v: 11, f: 12, r: 13, '"': 34, '\\': 92 }

/** unquote reads a name as git quotes it: bytes in octal, which together are UTF-8. */
export function unquote(name: string): string {
  if (!/^".*"$/s.test(name)) return name
  const bytes: number[] = []
  const encoder = new TextEncoder()
  for (const [piece] of name.slice(1, -1).matchAll(/\\[0-7]{3}|\\.|[^\\]+/gs)) {
    if (piece[0] !== '\\') bytes.push(...encoder.encode(piece))
    else if (piece.length === 4) bytes.push(parseInt(piece.slice(1), 8) & 255)
    else bytes.push(escapes[piece[1] ?? ''] ?? piece.charCodeAt(1))
  }
  return new TextDecoder().decode(new Uint8Array(bytes))
}

type Pair = [Line | undefined, Line | undefined]

/** A Row of a difference that is shown: a file's heading, or something below it. */
export type Row =
  | { kind: 'file'; file: number }
  | { kind: 'note'; file: number; text: string }
  | { kind: 'hunk'; file: number; text: string }
  | { kind: 'line'; file: number; line: Line; /** other is what it stands for, or what stands for it */ other?: Line }
  | { kind: 'pair'; file: number; left?: Line; right?: Line }

/** rowsOf lays files out as rows, one below the other or side by side. Those that are folded have a heading alone. */
export function rowsOf(files: readonly FileDiff[], split: boolean, folded: ReadonlySet<number>): Row[] {
  const rows: Row[] = []
  files.forEach((file, n) => {
    rows.push({ kind: 'file', file: n })
    if (folded.has(n)) return
    const note = noteOf(file)
    if (note) rows.push({ kind: 'note', file: n, text: note })
    for (const hunk of file.hunks) {
      rows.push({ kind: 'hunk', file: n, text: hunk.header })
      const pairs = paired(hunk.lines)
      if (split) for (const [left, right] of pairs) rows.push({ kind: 'pair', file: n, left, right })
      else for (const row of unified(hunk.lines, pairs, n)) rows.push(row)
    }
  })
  return rows
}

function unified(lines: readonly Line[], pairs: Pair[], file: number): Row[] {
  const others = new Map<Line, Line>()
  for (const [left, right] of pairs) {
    if (left && right && left !== right) {
      others.set(left, right)
      others.set(right, left)
    }
  }
  return lines.map((line) => ({ kind: 'line', file, line, other: others.get(line) }))
}

/** paired sets what was taken out beside what was put in; what stayed stands on both sides. */
export function paired(lines: readonly Line[]): Pair[] {
  const out: Pair[] = []
  let gone: Line[] = []
  let fresh: Line[] = []
  const flush = () => {
    for (let i = 0; i < Math.max(gone.length, fresh.length); i++) out.push([gone[i], fresh[i]])
    gone = []
    fresh = []
  }
  for (const line of lines) {
    if (line.kind === '-') {
      if (fresh.length > 0) flush()
      gone.push(line)
    } else if (line.kind === '+') fresh.push(line)
    else {
      flush()
      out.push([line, line])
    }
  }
  flush()
  return out
}

/** noteOf is what there is to say of a file besides its lines. */
export function noteOf(file: FileDiff): string {
  const notes: string[] = []
  if (file.kind === 'renamed' || file.kind === 'copied') notes.push(`${file.kind} from ${file.from}`)
  if (file.modes) notes.push(`mode ${file.modes[0]} → ${file.modes[1]}`)
  if (file.binary) notes.push(file.size === undefined ? 'a binary file' : `a binary file, ${file.size.toLocaleString('en-US')} bytes afterwards`)
  else if (file.hunks.length === 0 && (file.kind === 'added' || file.kind === 'removed')) notes.push('an empty file')
  return notes.join(', ')
}

/** differing is the part of a line in which it differs from another: from, and to which place. */
export function differing(text: string, other: string): [number, number] | undefined {
  const most = Math.min(text.length, other.length)
  let from = 0
  while (from < most && text[from] === other[from]) from++
  let end = 0
  while (end < most - from && text.at(-1 - end) === other.at(-1 - end)) end++
  // Two lines that have little in common are two lines.
  if (from + end < 0.4 * Math.max(text.length, other.length)) return undefined
  return from < text.length - end ? [from, text.length - end] : undefined
}
