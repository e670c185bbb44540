import { renderToStaticMarkup } from 'react-dom/server'
import { describe, expect, it } from 'vitest'
import { Markdown } from './markdown'
import { drawableFormula, parse, safeHref, short } from './parse'
import { flat, visible, withoutTitle, written } from './plain'

const html = (text: string, images = new Map<string, string>()) => renderToStaticMarkup(<Markdown text={text} context={{ images }} />)

describe('Markdown', () => {
  it('shows tags as words', () => {
    const out = html('before <script>alert(1)</script> <img src=x onerror=alert(1)>\n\n<svg onload="alert(1)"><a href="x"/></svg>')
    expect(out).not.toMatch(/<(script|img|svg)/)
    expect(out).toContain('&lt;script&gt;')
  })
  it('follows only links that lead to pages, mail and places in the text', () => {
    const out = html('[a](javascript:alert(1)) [b](https://example.org) [c](data:text/html,x) [d](#there) [e](vbscript:x)')
    expect(out.match(/href="[^"]*"/g)).toEqual(['href="https://example.org"', 'href="#there"'])
    expect(out).toContain('rel="noreferrer noopener"')
    expect(out).toContain('javascript:alert(1)')
  })
  it('is not misled by what browsers drop from an address', () => {
    expect(safeHref('java\nscript:alert(1)')).toBeUndefined()
    expect(safeHref('\u0001javascript:alert(1)')).toBeUndefined()
    expect(safeHref(' //evil.example')).toBeUndefined()
    expect(safeHref('/api/quests')).toBeUndefined()
  })
  it('loads an image only if it is attached', () => {
    const hash = 'a'.repeat(64)
    const out = html('![one](plot.png) ![two](https://example.org/x.png)', new Map([['plot.png', hash]]))
    expect(out.match(/src="[^"]*"/g)).toEqual([`src="/api/blobs/${hash}"`])
  })
  it('makes marks of direction visible', () => {
    expect(html('abc\u202etxt.exe')).toContain('>RLO<')
    expect(flat('a\u2066b')).toBe('a⟦LRI⟧b')
  })
  it('makes control characters visible, but for those that end lines', () => {
    expect(flat('\u001b[31mred\u001b[0m\u0007\r\n\tnext\rover\u009b2J\u007f')).toBe('⟦ESC⟧[31mred⟦ESC⟧[0m⟦BEL⟧\r\n\tnext⟦CR⟧over⟦C1⟧2J⟦DEL⟧')
    expect(html('a\u001b[2Jb')).toContain('>ESC<')
  })
  it('makes what cannot be seen visible', () => {
    expect(flat('a\u200bb\ufeffc\u2060d')).toBe('a⟦ZWSP⟧b⟦BOM⟧c⟦WJ⟧d')
    expect(flat('pay\u{e0061}pal \ue000')).toBe('pay⟦U+E0061⟧pal ⟦U+E000⟧')
    expect(flat('\ud800')).toBe('⟦U+D800⟧')
    expect(html('pass\u200bword')).toContain('title="a character that cannot be seen"')
  })
  it('leaves what shapes writing, and shows it where it only makes two names look the same', () => {
    for (const text of ['می\u200cخواهم', 'क्\u200dष', '❤\ufe0f\u200d🔥', '👩\u200d👩\u200d👧', 'plain', 'naïve', 'Ἀθῆναι']) expect(flat(text)).toBe(text)
    expect(flat('ad\u200cmin \u200dx б\u200dв')).toBe('ad⟦ZWNJ⟧min ⟦ZWJ⟧x б⟦ZWJ⟧в')
    expect(flat('❤\u200d\u200d\u200d')).toBe('❤\u200d\u200d⟦ZWJ⟧')
  })
  it('is quick with whatever is written to make it slow', () => {
    for (const text of ['\u0301'.repeat(100_000) + '\u200d', '\u200d'.repeat(100_000), '❤' + '\u0301\u200d'.repeat(50_000)]) {
      const begun = performance.now()
      flat(text)
      expect(performance.now() - begun).toBeLessThan(5000)
    }
  })
  it('does not make an element of each of very many marks', () => {
    expect(renderToStaticMarkup(<>{visible('\u202e'.repeat(60_000))}</>)).not.toContain('<span')
    expect(renderToStaticMarkup(<>{visible('a\u202e'.repeat(1000))}</>).match(/<span/g)).toHaveLength(1000)
  })
  it('leaves out a first heading that stands above it already', () => {
    expect(withoutTitle('# Answer\n\nIt is 4.', 'Answer')).toBe('\nIt is 4.')
    expect(withoutTitle('# Answers\n\nIt is 4.', 'Answer')).toBe('# Answers\n\nIt is 4.')
    expect(withoutTitle('It is 4.\n\n# Answer', 'Answer')).toBe('It is 4.\n\n# Answer')
    expect(withoutTitle(written('<!-- as of event 550 -->\n# Plan\n\n- scout'), 'Plan')).toBe('\n- scout')
    expect(written('# Plan <!-- as of event 550 -->')).toBe('# Plan <!-- as of event 550 -->')
  })
  it('keeps a table in its own box', () => {
    expect(html('|a|b|\n|-|-:|\n|1|2|')).toMatch(/class="table"[^>]*tabindex="0"/)
  })
  it('goes down one heading at a time', () => {
    expect(html('# a\n\n#### b\n\n## c').match(/<h\d/g)).toEqual(['<h3', '<h4', '<h4'])
  })
  it('survives nesting that nobody means', () => {
    expect(html('>'.repeat(200) + ' deep')).toContain('…')
  })
  it.each(['>', '[', '![', 'a]', '*a ', '- ', '+ ', '1. ', '[a](b', '|a', 'word\n', '`a``', '```\n[', '\\', '[a](b)\n\n', '$a$\n\n',
    '|a|\n|-|\n\n'])('does not stand still before a row of %j', (piece) => {
    const begin = performance.now()
    html(piece.repeat(short / piece.length))
    expect(performance.now() - begin).toBeLessThan(6000)
    // A long one is not parsed here: it is shown as it is until it was parsed aside.
    expect(html(piece.repeat(290_000 / piece.length))).toContain('unparsed')
  })
  it('parses a long paper', () => {
    const paper = 'Some words with *emphasis*, `code` and [a link](https://example.org).\n\n```json\n{"a": [1, 2, [3]]}\n```\n\n'.repeat(1000)
    expect(parse(paper)?.children).toHaveLength(2000)
  })
  it('does not draw more than a page can hold', () => {
    expect(parse('a\n\n'.repeat(10_000))).toBeUndefined()
    const long = parse(`$${'x'.repeat(1500)}$\n\n`.repeat(20))
    const kinds = long?.children.map((p) => ('children' in p ? p.children[0]?.type : ''))
    expect(kinds?.filter((k) => k === 'inlineMath')).toHaveLength(13)
    expect(kinds?.filter((k) => k === 'inlineCode')).toHaveLength(7)
    const wide = parse(`$\\begin{matrix}${'a&'.repeat(300)}\\end{matrix}$\n\n`.repeat(5))
    expect(wide?.children.filter((p) => 'children' in p && p.children[0]?.type === 'inlineMath')).toHaveLength(3)
  })
  it.each(['\\def\\a{x}\\a', '\\newcommand{\\a}{x}', '\\let\\a=b', '\\global\\def\\a{}', `${'x'.repeat(1998)}\\alpha`])('does not draw a formula %#',
    (source) => {
    if (source.length < short - 2) expect(html(`$${source}$`)).toContain('<code')
    expect(drawableFormula(source)).toBe(false)
  })
  it('draws what only looks like a definition', () => {
    expect(drawableFormula('\\longrightarrow \\left( \\letter')).toBe(true)
  })
})
