import { Fragment, type ReactNode } from 'react'

// Marks that change the order in which text is read are shown, not obeyed: a name that
// reads one way and is another must not pass.
const names: Record<string, string> = {
  '\u061c': 'ALM', '\u200e': 'LRM', '\u200f': 'RLM',
  '\u202a': 'LRE', '\u202b': 'RLE', '\u202c': 'PDF', '\u202d': 'LRO', '\u202e': 'RLO',
  '\u2066': 'LRI', '\u2067': 'RLI', '\u2068': 'FSI', '\u2069': 'PDI',
}
const marks = /([\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069])/

/** visible makes direction marks visible; everything else is left as it is. */
export function visible(text: string): ReactNode {
  if (!marks.test(text)) return text
  return text.split(marks).map((piece, i) => {
    const name = names[piece]
    return (
      <Fragment key={i}>
        {name ? <span className="bidi" title="a mark that changes the direction of text">{name}</span> : piece}
      </Fragment>
    )
  })
}

/** flat is visible for places that hold only a string: attributes, SVG, options. */
export const flat = (text: string) => text.replace(new RegExp(marks, 'g'), (mark) => `⟦${names[mark]}⟧`)

/** Words shows text of an agent as text. */
export const Words = ({ children }: { children: string }) => <>{visible(children)}</>

export function clip(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text
}

/** firstLine is the first line of Markdown that says something, without its marks. */
export function firstLine(markdown: string): string {
  const line = markdown.split('\n').find((l) => /[\p{L}\p{N}]/u.test(l)) ?? ''
  return line.replace(/^[#>\-*\s]+/, '').replace(/[*`]{1,3}/g, '').trim()
}
