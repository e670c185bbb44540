import { useMemo, useRef, useState, type ReactNode } from 'react'
import { visible } from '../text/plain'
import { MeasuredList } from './measured'
import { differing, nameOf, parsePatch, rowsOf, type FileDiff, type Line, type Row } from './patch'
import './patch.css'
import { count, several } from './show'
import type { Scroller } from './virtual'

const signs: Record<FileDiff['kind'], string> = { added: 'A', removed: 'D', changed: 'M', renamed: 'R', copied: 'C', mode: 'T' }

/** long is how many lines a file may have before it is folded at first. */
const long = 1000

type Props = {
  /** patch is what git diff writes: text of an agent. */
  patch: string
  label: string
  /** aside stands at the end of the bar, such as where the whole patch is. */
  aside?: ReactNode
}

/** DiffView shows what a patch changes: the files, and their lines below each other or side by side. */
export function DiffView({ patch, label, aside }: Props) {
  const files = useMemo(() => parsePatch(patch), [patch])
  const [split, setSplit] = useState(() => window.innerWidth > 1400)
  const [folded, setFolded] = useState<ReadonlySet<number>>(() => new Set(files.flatMap((f, n) => (f.added + f.removed > long ? [n] : []))))
  const rows = useMemo(() => rowsOf(files, split, folded), [files, split, folded])
  const list = useRef<Scroller>(null)
  if (files.length === 0) return <p className="muted">The patch is empty: nothing has changed.</p>
  const fold = (n: number) => setFolded((now) => {
    const next = new Set(now)
    if (!next.delete(n)) next.add(n)
    return next
  })
  const all = folded.size === files.length
  const sum = (of: (f: FileDiff) => number) => files.reduce((n, f) => n + of(f), 0)
  return (
    <section className="dv" aria-label={label}>
      <div className="dv-bar">
        <span>{several(files.length, 'file')}</span>
        <Counts added={sum((f) => f.added)} removed={sum((f) => f.removed)} />
        <span className="row" role="group" aria-label="How lines are shown">
          <button className="button small" aria-pressed={!split} onClick={() => setSplit(false)}>Unified</button>
          <button className="button small" aria-pressed={split} onClick={() => setSplit(true)}>Side by side</button>
        </span>
        <button className="button small" onClick={() => setFolded(all ? new Set() : new Set(files.keys()))}>{all ? 'Unfold all' : 'Fold all'}</button>
        {aside && <span className="push">{aside}</span>}
      </div>
      {files.length > 1 && <ul className="dv-files" aria-label="Files" tabIndex={0}>
        {files.slice(0, 2000).map((file, n) => (
          <li key={n}>
            <Sign file={file} />
            <button className="link" onClick={() => { list.current?.show(rows.findIndex((r) => r.kind === 'file'
              && r.file === n)) }}>{visible(nameOf(file))}</button>
            <Counts added={file.added} removed={file.removed} />
          </li>
        ))}
      </ul>}
      <MeasuredList ref={list} own className="dv-list" count={rows.length} guess={20} label={`${label}: lines`}
        row={(n) => { const row = rows[n]; const file = row && files[row.file]; return file && <One
          row={row} file={file} folded={folded.has(row.file)} onFold={fold} /> }} />
    </section>
  )
}

const Sign = ({ file }: { file: FileDiff }) => <span className={`dv-sign ${file.kind}`} title={file.kind}
  aria-label={file.kind} role="img">{signs[file.kind]}</span>

const Counts = ({ added, removed }: { added: number; removed: number }) => (
  <span className="dv-counts num"><span className="add">+{count(added)}</span> <span className="del">−{count(removed)}</span></span>
)

function One({ row, file, folded, onFold }: { row: Row; file: FileDiff; folded: boolean; onFold: (n: number) => void }) {
  switch (row.kind) {
    case 'file': return (
      <div className="dv-head">
        <button aria-expanded={!folded} onClick={() => onFold(row.file)}>
          <span aria-hidden="true">{folded ? '▸' : '▾'}</span><span>{visible(nameOf(file))}</span>
        </button>
        <Sign file={file} />
        <Counts added={file.added} removed={file.removed} />
      </div>
    )
    case 'note': return <p className="dv-note">{visible(row.text)}</p>
    case 'hunk': return <div className="dv-hunk">{visible(row.text)}</div>
    case 'line': {
      const { line, other } = row
      return (
        <div className={`dv-line ${classes[line.kind]}`}>
          <span className="dv-no">{line.before}</span><span className="dv-no">{line.after}</span><span className="dv-mark">{line.kind}</span>
          <Text line={line} other={other} />
        </div>
      )
    }
    case 'pair': return <div className="dv-pair"><Side line={row.left} other={row.right} before /><Side line={row.right} other={row.left} /></div>
  }
}

const classes: Record<Line['kind'], string> = { '+': 'plus', '-': 'minus', ' ': '' }

function Side({ line, other, before = false }: { line?: Line; other?: Line; before?: boolean }) {
  const kind = line ? classes[line.kind] : 'none'
  return (
    <>
      <span className="dv-no">{before ? line?.before : line?.after}</span>
      <span className={`dv-mark ${kind}`}>{line?.kind}</span>
      {line ? <Text line={line} other={other} kind={kind} /> : <span className="dv-text none" />}
    </>
  )
}

function Text({ line, other, kind = '' }: { line: Line; other?: Line; kind?: string }) {
  const part = other && other !== line ? differing(line.text, other.text) : undefined
  return (
    <span className={`dv-text ${kind}`}>
      {part ? <>{visible(line.text.slice(0, part[0]))}<mark>{visible(line.text.slice(...part))}</mark>{visible(line.text.slice(part[1]))}</>
        : visible(line.text)}
      {line.open && <span className="dv-open"> no line break at the end</span>}
    </span>
  )
}
