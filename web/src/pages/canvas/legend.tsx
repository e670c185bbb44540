import { useMemo } from 'react'
import type { Grouped } from './group'
import { toneOf } from './node'

const tones: [string, string][] = [['good', 'holds'], ['bad', 'fell'], ['open', 'open']]

/** Legend says what the picture's marks and lines mean, of those that are in it. */
export function Legend({ grouped }: { grouped: Grouped }) {
  const seen = useMemo(() => {
    const marks = new Map<string, Set<string>>()
    const stands = new Map<string, Set<string>>()
    let votes = false
    for (const card of grouped.cards.values()) {
      for (const m of card.marks) marks.set(m.kind, (marks.get(m.kind) ?? new Set()).add(toneOf(m.status)))
      const tone = toneOf(card.node.status)
      if (tone) stands.set(tone, (stands.get(tone) ?? new Set()).add((card.node.status ?? '').toLowerCase()))
      votes ||= card.votes.length > 0
    }
    return { marks, stands, votes, edges: [...new Set(grouped.edges.map((e) => e.kind))] }
  }, [grouped])
  return (
    <ul className="legend small" aria-label="Legend">
      {tones.filter(([tone]) => seen.stands.has(tone)).map(([tone, word]) => (
        <li key={tone}><span className={`swatch ${tone}`} aria-hidden="true" />{[...(seen.stands.get(tone) ?? [word])].slice(0, 3).join(', ')}</li>
      ))}
      {[...seen.marks].map(([kind, of]) => (
        <li key={kind}><span aria-hidden="true">{of.has('good') && <span className="mark good">✓</span>}{of.has('bad') && <span className="mark bad">✗</span>}
          {of.has('') && <span className="mark">·</span>}</span>{kind}{of.has('good') && of.has('bad') ? ' for, against' : ''}</li>
      ))}
      {seen.votes && <li><span className="mark vote" aria-hidden="true">▲</span>votes</li>}
      {seen.edges.map((kind) => (
        <li key={kind}><svg className={`key edge-${kind}`} width="30" height="8" aria-hidden="true">
          <path className="react-flow__edge-path" d="M1 4H29" /></svg>{kind}</li>
      ))}
    </ul>
  )
}
