export type Piece = { text: string; marked: boolean }

/**
 * cited finds in a source the words that a claim takes from it: what stands in
 * quotation marks; if nothing does, its phrases between commas; and if none of them is
 * there to the letter, its figures. White space does not count.
 */
export function cited(claim: string, source: string): Piece[] {
  const quotes = [...claim.matchAll(/[“"„]([^”"“]+)[”"“]/g)].map((m) => m[1] ?? '')
  const phrases = claim.split(/[,;:]\s+|[.?!](?:\s|$)/)
  const figures = claim.match(/-?\d+(?:[.,]\d+)*(?:e[+-]?\d+)?/gi) ?? []
  for (const words of [quotes, phrases, figures]) {
    const spans = words.map((w) => w.trim()).filter((w) => w.length > (words === figures ? 1 : 5)).flatMap((w) => find(w, source))
    if (spans.length > 0) return cut(source, spans)
  }
  return [{ text: source, marked: false }]
}

function find(words: string, source: string): [number, number][] {
  const pattern = words.split(/\s+/).map((w) => w.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('\\s+')
  return [...source.matchAll(new RegExp(pattern, 'gi'))].map((m) => [m.index, m.index + m[0].length])
}

function cut(source: string, spans: [number, number][]): Piece[] {
  const out: Piece[] = []
  let from = 0
  for (const [start, end] of spans.sort((a, b) => a[0] - b[0])) {
    if (end <= from) continue
    const begin = Math.max(start, from)
    if (begin > from) out.push({ text: source.slice(from, begin), marked: false })
    out.push({ text: source.slice(begin, end), marked: true })
    from = end
  }
  if (from < source.length) out.push({ text: source.slice(from), marked: false })
  return out
}
