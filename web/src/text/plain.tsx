import { Fragment, type ReactNode } from 'react'

// Marks that change the order in which text is read are shown, not obeyed: a name that
// reads one way and is another must not pass. Control characters are shown too: what
// would clear a terminal or colour it is words here.
const directions: Record<string, string> = {
  '\u061c': 'ALM', '\u200e': 'LRM', '\u200f': 'RLM',
  '\u202a': 'LRE', '\u202b': 'RLE', '\u202c': 'PDF', '\u202d': 'LRO', '\u202e': 'RLO',
  '\u2066': 'LRI', '\u2067': 'RLI', '\u2068': 'FSI', '\u2069': 'PDI',
}
const controls = 'NUL SOH STX ETX EOT ENQ ACK BEL BS HT LF VT FF CR SO SI DLE DC1 DC2 DC3 DC4 NAK SYN ETB CAN EM SUB ESC FS GS RS US'.split(' ')
const marks = /([\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]|\r(?!\n))/
const every = new RegExp(marks, 'g')

// Somebody who writes more of them than this means to make the page slow.
const most = 2000

const nameOf = (mark: string) => directions[mark] ?? controls[mark.charCodeAt(0)] ?? (mark === '\u007f' ? 'DEL' : 'C1')

/** visible makes direction marks and control characters visible; everything else is left as it is. */
export function visible(text: string): ReactNode {
  if (!marks.test(text)) return text
  const pieces = text.split(marks)
  if (pieces.length > 2 * most) return flat(text)
  return pieces.map((piece, i) => (
    <Fragment key={i}>
      {i % 2 === 1 ? <span className="bidi" title={directions[piece] ? 'a mark that changes the direction of text' : 'a control character'}>
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
