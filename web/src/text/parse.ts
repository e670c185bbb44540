import type { Root } from 'mdast'
import { fromMarkdown } from 'mdast-util-from-markdown'
import { gfmFromMarkdown } from 'mdast-util-gfm'
import { mathFromMarkdown } from 'mdast-util-math'
import { gfm } from 'micromark-extension-gfm'
import { math } from 'micromark-extension-math'

const longest = 300_000
const mostWork = 1e7

/**
 * parseable reports whether parsing a text takes a moment only. The work grows with the
 * square of the marks in a paragraph: somebody who writes a hundred thousand brackets
 * in a row means to make the page stand still, and gets them shown as they are.
 */
export function parseable(markdown: string): boolean {
  if (markdown.length > longest) return false
  let work = 0
  let marks = 0
  let fenced = false
  for (const line of markdown.split('\n')) {
    if (/^ {0,3}(?:```|~~~)/.test(line)) fenced = !fenced
    // In a program marks mean nothing, but a fence that is never closed must not hide them for long.
    marks += (fenced ? 0.02 : 1) * weight(line)
    if (line.trim() === '') {
      work += marks * marks
      marks = 0
    }
  }
  return work + marks * marks <= mostWork
}

function weight(line: string): number {
  let sum = 0.2
  for (let i = 0; i < line.length; i++) {
    switch (line[i]) {
      case '>': sum += 2; break
      case '[': case ']': case '*': case '_': case '`': case '$': case '~': case '<': sum += 1; break
      case '|': case '-': case '@': case '&': sum += 0.25
    }
  }
  return sum
}

export function parse(markdown: string): Root {
  return fromMarkdown(markdown, {
    extensions: [gfm(), math()],
    mdastExtensions: [gfmFromMarkdown(), mathFromMarkdown()],
  })
}

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
