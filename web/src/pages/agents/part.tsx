import { useMemo, type ToggleEvent } from 'react'
import { blobLink } from '../../api/client'
import type { AttachedFile, Part, Ref } from '../../api/types'
import { questLink } from '../../route'
import { Code } from '../../text/code'
import { Markdown } from '../../text/markdown'
import { clip, visible } from '../../text/plain'
import { Badge, bytes, duration } from '../../ui/show'
import { paperWords } from '../quest/links'

/** Folds are the pieces that somebody opened or closed, by message and number. */
export type Folds = Map<string, boolean>

type Fold = { id: string; folds: Folds }

const kept = ({ id, folds }: Fold, otherwise = false) => ({
  open: folds.get(id) ?? otherwise,
  onToggle: (e: ToggleEvent<HTMLDetailsElement>) => { folds.set(id, e.currentTarget.open) },
})

/** PartView is a piece of a message: words, a thought that is folded, or a call with what came back. */
export function PartView({ quest, part, ...fold }: Fold & { quest: string; part: Part }) {
  const context = useMemo(() => ({ word: paperWords(quest) }), [quest])
  switch (part.kind) {
    case 'thinking': return <details className="thought" {...kept(fold)}>
      <summary>Thinking <span className="muted">{visible(clip(part.text ?? '', 90))}</span></summary><p className="thought-text">
      {visible(part.text ?? '')}</p><Rest of={part.ref} /></details>
    case 'tool_call': return <Call quest={quest} part={part} {...fold} />
    default: return <><Markdown text={part.text ?? ''} context={context} /><Rest of={part.ref} /><Attached files={part.attachments} /></>
  }
}

/**
 * Attached are pictures and files that came with something. Which of them are pictures, the server has seen from their bytes, and
 * it serves no others as such; what they are called is a stranger's word.
 */
function Attached({ files = [] }: { files?: AttachedFile[] }) {
  if (files.length === 0) return null
  return (
    <ul className="attached" aria-label="Pictures and files">
      {files.map((file, i) => {
        const name = visible(clip(file.name ?? '', 80)) || file.media
        const link = blobLink(file.ref.hash, file.name || 'file')
        return (
          <li key={i}>
            {file.picture && <a href={link}><img src={link} alt={`Picture ${name}`} loading="lazy" decoding="async" /></a>}
            <a className="small" href={link}>{name}</a> <span className="small muted num">{visible(file.media)}, {bytes(file.ref.size)}</span>
          </li>
        )
      })}
    </ul>
  )
}

const Rest = ({ of }: { of?: Ref }) => (of ? <a className="small" href={blobLink(of.hash, 'text.txt')}>all of it, {bytes(of.size)}</a> : null)

function Call({ quest, part, ...fold }: Fold & { quest: string; part: Part }) {
  const args = useMemo(() => asArguments(part.args ?? ''), [part.args])
  return (
    <details className="call" {...kept(fold, part.failed || part.attachments !== undefined)}>
      <summary>
        <span className="mono tool">{visible(part.tool ?? '')}</span>
        <span className="muted mono call-args">{visible(clip(args.line, 110))}</span>
        {part.failed ? <Badge tone="bad">failed</Badge> : !part.done && <Badge tone="live">running</Badge>}
        {part.duration_us !== undefined && <span className="muted num">{duration(part.duration_us / 1e6)}</span>}
      </summary>
      <div className="stack tight">
        {args.fields.map(([name, value]) => <div key={name}><p className="small muted">{visible(name)}</p>
          <Code text={value} language={name === 'command' ? 'sh' : ''} /></div>)}
        {part.output !== undefined && <div><p className="small muted">{part.failed ? 'error' : 'output'}</p>
          <pre className={part.failed ? 'pre failed' : 'pre'} tabIndex={0}>{visible(part.output)}</pre></div>}
        <Attached files={part.attachments} />
        <div className="row small">
          <Rest of={part.output_ref} />
          {part.call !== undefined && <a href={questLink(quest, 'timeline', { seq: part.call })}>call {part.call}</a>}
          {part.output_seq !== undefined && <a href={questLink(quest, 'timeline', { seq: part.output_seq })}>result {part.output_seq}</a>}
        </div>
      </div>
    </details>
  )
}

// Arguments are JSON if the model kept to it; otherwise they are shown as they came.
function asArguments(text: string): { line: string; fields: [string, string][] } {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      const fields = Object.entries(value).map(([name, v]): [string, string] => [name, typeof v === 'string' ? v : JSON.stringify(v, null, 2)])
      return { line: fields.map(([, v]) => v.replace(/\s+/g, ' ')).join(' · '), fields }
    }
  } catch { /* as it came */ }
  return { line: text, fields: text ? [['arguments', text]] : [] }
}
