import { questLink } from '../../route'
import type { Context } from '../../text/markdown'

/** paperWords makes the references of papers in a text into links. */
export function paperWords(quest: string): Context['word'] {
  return {
    pattern: /\b[0-9a-f]{32}\b/g,
    show: (ref, key) => <a key={key} href={questLink(quest, `papers/${ref}`)} title={ref}>{ref.slice(0, 8)}</a>,
  }
}

/** sourceWords makes [7] into a link to the seventh source. */
export function sourceWords(quest: string): Context['word'] {
  return {
    pattern: /\[\d{1,6}\]/g,
    show: (word, key) => <a key={key} href={questLink(quest, 'evidence', { source: word.slice(1, -1) })}>{word}</a>,
  }
}

const recorded = /\b(?:baseline|idea|decision|progress|milestone|run|report|approval|graph|campaign|result|outline|paper)-\d{1,6}\b|\[@[\w:.-]{1,80}\]/g

/** recordWords makes the ids of what a study recorded into links, and marks what its paper cites. */
export function recordWords(quest: string): Context['word'] {
  return {
    pattern: recorded,
    show: (word, key) => {
      const cited = /^\[@(fig:)?(.*)\]$/.exec(word)
      if (!cited) return <a key={key} href={questLink(quest, 'records', { artifact: word })}>{word}</a>
      return cited[1] ? <span key={key}>figure “{cited[2]}”</span> : <span key={key} className="muted">[{cited[2]}]</span>
    },
  }
}
