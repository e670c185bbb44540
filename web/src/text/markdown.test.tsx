import { renderToStaticMarkup } from 'react-dom/server'
import { describe, expect, it } from 'vitest'
import { Markdown } from './markdown'
import { safeHref } from './parse'
import { flat } from './plain'

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
  it('keeps a table in its own box', () => {
    expect(html('|a|b|\n|-|-:|\n|1|2|')).toMatch(/class="table"[^>]*tabindex="0"/)
  })
  it('goes down one heading at a time', () => {
    expect(html('# a\n\n#### b\n\n## c').match(/<h\d/g)).toEqual(['<h3', '<h4', '<h4'])
  })
  it('survives nesting that nobody means', () => {
    expect(html('>'.repeat(200) + ' deep')).toContain('…')
  })
  it.each(['>', '[', '![', 'a]', '*a ', '- ', '[a](b', '|a', 'word\n', '`a``', '```\n['])('does not stand still before a long row of %j', (piece) => {
    const begin = performance.now()
    const out = html(piece.repeat(290_000 / piece.length))
    expect(performance.now() - begin).toBeLessThan(3000)
    expect(out).toContain('<pre')
  })
  it('still parses a long paper', () => {
    const paper = 'Some words with *emphasis*, `code` and [a link](https://example.org).\n\n```json\n{"a": [1, 2, [3]]}\n```\n\n'.repeat(1000)
    expect(html(paper)).toContain('<em>')
  })
})
