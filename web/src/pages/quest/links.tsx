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
