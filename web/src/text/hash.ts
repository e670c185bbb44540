// Hashes are computed here, in the browser: a page that only repeats what the server
// says about its own ledger would prove nothing.

const hex = (bytes: ArrayBuffer) => [...new Uint8Array(bytes)].map((b) => b.toString(16).padStart(2, '0')).join('')

function unhex(text: string): Uint8Array {
  const out = new Uint8Array(text.length / 2)
  for (let i = 0; i < out.length; i++) out[i] = Number.parseInt(text.slice(2 * i, 2 * i + 2), 16)
  return out
}

export async function sha256(data: string | ArrayBuffer | Uint8Array<ArrayBuffer>): Promise<string> {
  const bytes = typeof data === 'string' ? new TextEncoder().encode(data) : data
  return hex(await crypto.subtle.digest('SHA-256', bytes))
}

const member = ',"hash":"'
const zero = '0'.repeat(64)

/**
 * lineHash is the hash that a ledger line must have after the event before it: SHA-256
 * over that event's hash, as bytes, and the line without its hash member. The members
 * behind the body hold no quotes, so the last place where the member begins is the one.
 */
export async function lineHash(previous: string, line: string): Promise<string> {
  const cut = line.lastIndexOf(member)
  if (cut < 0) return ''
  const before = new TextEncoder().encode(line.slice(0, cut))
  const after = new TextEncoder().encode(line.slice(cut + member.length + zero.length + 1))
  const all = new Uint8Array(32 + before.length + after.length)
  all.set(unhex(previous || zero), 0)
  all.set(before, 32)
  all.set(after, 32 + before.length)
  return sha256(all)
}

/** rawLines cuts the events' own bytes out of a page of the ledger, unparsed. */
export function rawLines(page: string): string[] {
  const lines: string[] = []
  const start = /"event"\s*:\s*(?=\{"actor":)/g
  for (let match = start.exec(page); match; match = start.exec(page)) {
    const end = objectEnd(page, start.lastIndex)
    lines.push(page.slice(start.lastIndex, end))
    start.lastIndex = end
  }
  return lines
}

function objectEnd(text: string, from: number): number {
  let depth = 0
  let quoted = false
  for (let i = from; i < text.length; i++) {
    const c = text[i]
    if (quoted) {
      if (c === '\\') i++
      else if (c === '"') quoted = false
    } else if (c === '"') quoted = true
    else if (c === '{') depth++
    else if (c === '}' && --depth === 0) return i + 1
  }
  return text.length
}
