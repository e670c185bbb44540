import { visible } from '../text/plain'

function kind(line: string): string {
  if (line.startsWith('@@')) return 'hunk'
  if (line.startsWith('+')) return 'add'
  return line.startsWith('-') ? 'del' : ''
}

/** Unified shows a difference as patches are written. */
export function Unified({ text, label }: { text: string; label: string }) {
  return (
    <div className="diff" role="region" aria-label={label} tabIndex={0}>
      {text.replace(/\n$/, '').split('\n').map((line, i) => <div key={i} className={kind(line)}>{visible(line)}</div>)}
    </div>
  )
}
