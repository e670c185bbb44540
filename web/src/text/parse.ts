import type { Nodes, Root } from 'mdast'
import { fromMarkdown } from 'mdast-util-from-markdown'
import { gfmFromMarkdown } from 'mdast-util-gfm'
import { mathFromMarkdown } from 'mdast-util-math'
import { gfm } from 'micromark-extension-gfm'
import { math } from 'micromark-extension-math'

/** longest is up to how many characters a text is parsed at all. */
export const longest = 300_000

/**
 * short is up to where a text is parsed where it is shown. The parser's work grows with
 * the square of some marks and more, and somebody may write a text for that: a longer
 * one is parsed aside, where it can be stopped.
 */
export const short = 2000

// What is drawn is drawn where the page is, and cannot be stopped.
const mostNodes = 20_000
const mostFormula = 20_000

/** parse makes a tree of a text, none of one that would take too long to draw. */
export function parse(markdown: string): Root | undefined {
  const root = fromMarkdown(markdown, {
    extensions: [gfm(), math()],
    mdastExtensions: [gfmFromMarkdown(), mathFromMarkdown()],
  })
  return drawable(root) ? root : undefined
}

// Formulas beyond the limit become code. The walk keeps its own stack: a tree may be deep.
function drawable(root: Root): boolean {
  const open: Nodes[] = [root]
  let nodes = 0
  let formula = 0
  for (let node = open.pop(); node; node = open.pop()) {
    if (++nodes > mostNodes) return false
    if (node.type === 'math' || node.type === 'inlineMath') {
      formula += weight(node.value)
      if (formula > mostFormula) Object.assign(node, { type: node.type === 'math' ? 'code' : 'inlineCode', data: undefined })
    }
    if ('children' in node) open.push(...[...node.children].reverse())
  }
  return true
}

// A cell of a matrix is a box with a dozen others in it.
const weight = (source: string) => source.length + 20 * (source.match(/&|\\\\/g)?.length ?? 0)

// A formula may not define anything: what 900 bytes define may take a minute to draw.
const defines = /\\(?:[gex]?def|let|futurelet|(?:re)?newcommand|providecommand|global|long)(?![a-zA-Z])/

/** drawableFormula reports whether TeX takes a moment only. */
export const drawableFormula = (source: string) => source.length <= 2000 && !defines.test(source)

/**
 * safeHref gives a link's target if it is one that may be followed: a page, a mail
 * address, a place in this text. Everything else, javascript: before all, is none.
 */
export function safeHref(url: string): string | undefined {
  // Browsers drop these while they read an address: what is checked must be what is used.
  const clean = url.replace(/[\u0000-\u0020\u007f]/g, '')
  if (clean.startsWith('#')) return clean
  return /^(?:https?:\/\/|mailto:)/i.test(clean) ? clean : undefined
}

export const slug = (text: string) =>
  `md-${text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '-').replace(/^-|-$/g, '')}`
