import { memo, type ReactNode } from 'react'
import { flat, visible } from './plain'

// Only what helps the eye in every language: comments, strings, numbers, a few words.
const hash = /(#(?![0-9a-fA-F]{3,8}\b).*$)/
const slash = /(\/\/.*$|\/\*.*?\*\/)/
const rest = /("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')|\b(\d[\d_.]*)\b|\b(if|else|for|while|return|function|func|def|import|from|in|do|done|then|fi|class|const|let|var|print|BEGIN|END|type|struct|package|with|as|not|and|or)\b/
const hashed = new Set(['sh', 'bash', 'python', 'py', 'awk', 'yaml', 'yml', 'r', 'ruby', 'toml', 'make'])
const slashed = new Set(['go', 'js', 'ts', 'javascript', 'typescript', 'c', 'cpp', 'java', 'rust', 'json'])
const most = 40_000

function coloured(line: string, pattern: RegExp): ReactNode[] {
  const out: ReactNode[] = []
  let from = 0
  for (const match of line.matchAll(pattern)) {
    if (match.index > from) out.push(visible(line.slice(from, match.index)))
    const kind = match[1] !== undefined ? 'c' : match[2] !== undefined ? 's' : match[3] !== undefined ? 'n' : 'k'
    out.push(<span key={match.index} className={`hl-${kind}`}>{visible(match[0])}</span>)
    from = match.index + match[0].length
  }
  out.push(visible(line.slice(from)))
  return out
}

/** Code shows a program. It can be reached by keyboard, for it may have to scroll. */
export const Code = memo(function Code({ text, language = '' }: { text: string; language?: string }) {
  const lang = language.toLowerCase()
  const comment = hashed.has(lang) ? hash : slashed.has(lang) ? slash : undefined
  const plain = !comment || text.length > most
  const pattern = comment && new RegExp(`${comment.source}|${rest.source}`, 'g')
  return (
    <pre className="code" tabIndex={0} role="group" aria-label={language ? flat(`${language} code`) : 'code'}>
      <code>
        {plain || !pattern
          ? visible(text)
          : text.split('\n').map((line, i) => <span key={i}>{i > 0 && '\n'}{coloured(line, pattern)}</span>)}
      </code>
    </pre>
  )
})
