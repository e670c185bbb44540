import { Fragment, type ReactNode } from 'react'
import { hidden, shaping } from './hidden'

// What people are not shown elsewhere is shown here by its name, not obeyed: marks that change the order in which
// text is read, for a name that reads one way and is another must not pass; control characters; and whatever cannot
// be seen. Which characters these are, the one table of the program says.
const directions: Record<string, string> = {
  '\u061c': 'ALM', '\u200e': 'LRM', '\u200f': 'RLM',
  '\u202a': 'LRE', '\u202b': 'RLE', '\u202c': 'PDF', '\u202d': 'LRO', '\u202e': 'RLO',
  '\u2066': 'LRI', '\u2067': 'RLI', '\u2068': 'FSI', '\u2069': 'PDI',
}
const controls = 'NUL SOH STX ETX EOT ENQ ACK BEL BS HT LF VT FF CR SO SI DLE DC1 DC2 DC3 DC4 NAK SYN ETB CAN EM SUB ESC FS GS RS US'.split(' ')
const unseen: Record<string, string> = { '\u00ad': 'SHY', '\u200b': 'ZWSP', '\u200c': 'ZWNJ', '\u200d': 'ZWJ', '\u2060': 'WJ', '\ufeff': 'BOM' }

// Joiners, and choices of picture, stay behind writing which they shape, two at most: Persian, Hindi, emoji. Behind
// these alphabets they have no use but to make two names look the same. Elsewhere a mark on a letter stands between.
const alphabets = String.raw`\u{0}-\u{7f}\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}`
const shaped = String.raw`[^${alphabets}\p{M}${hidden}${shaping}](?:(?![${shaping}])\p{M})*[${shaping}]?`
const marks = new RegExp(String.raw`((?!\r\n)[${hidden}]|(?<!${shaped})[${shaping}])`, 'u')
const every = new RegExp(marks, 'gu')

// Somebody who writes more of them than this means to make the page slow.
const most = 2000

function nameOf(mark: string): string {
  const code = mark.codePointAt(0)!
  if (code >= 0x80 && code < 0xa0) return 'C1'
  return directions[mark] ?? unseen[mark] ?? controls[code] ?? (code === 0x7f ? 'DEL' : `U+${code.toString(16).toUpperCase().padStart(4, '0')}`)
}

function titleOf(mark: string): string {
  if (directions[mark]) return 'a mark that changes the direction of text'
  return /\p{Cc}/u.test(mark) ? 'a control character' : 'a character that cannot be seen'
}

/** visible makes visible what is hidden or changes how text is read; everything else is left as it is. */
export function visible(text: string): ReactNode {
  if (!marks.test(text)) return text
  const pieces = text.split(marks)
  if (pieces.length > 2 * most) return flat(text)
  return pieces.map((piece, i) => (
    <Fragment key={i}>
      {i % 2 === 1 ? <span className="bidi" title={titleOf(piece)}>
        {nameOf(piece)}</span> : piece}
    </Fragment>
  ))
}

/** flat is visible for places that hold only a string: attributes, SVG, options. */
export const flat = (text: string) => text.replace(every, (mark) => `⟦${nameOf(mark)}⟧`)

/** fileName is a name under which a file can be saved: what it reads as is what it is. */
export const fileName = (name: string) => name.replace(every, '_')

/** Words shows text of an agent as text. */
export const Words = ({ children }: { children: string }) => <>{visible(children)}</>

export function clip(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text
}

/** written is a document of a study without the mark that says of which event it was written. */
export const written = (markdown: string) => markdown.replace(/^<!-- as of event \d+ -->\s*/, '')

/** withoutTitle leaves out the first heading of a text if it says what already stands above it. */
export const withoutTitle = (markdown: string, title: string) =>
  markdown.replace(/^\s*#{1,6}[ \t]+(.+?)[ \t]*#*[ \t]*(?:\r?\n|$)/, (all, heading: string) => (heading.toLowerCase() === title.toLowerCase() ? '' : all))

/** firstLine is the first line of Markdown that says something, without its marks. */
export function firstLine(markdown: string): string {
  const line = markdown.split('\n').find((l) => /[\p{L}\p{N}]/u.test(l)) ?? ''
  return line.replace(/^[#>\-*\s]+/, '').replace(/[*`]{1,3}/g, '').trim()
}
