import type { Event } from '../../api/types'
import { clip } from '../../text/plain'

type Body = Record<string, unknown>

const most = 220

function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value !== 'object' || value === null) return ''
  const { text, ref } = value as { text?: string; ref?: { size: number } }
  return text ?? (ref ? `(${ref.size} bytes)` : '')
}

function parts(body: Body): string {
  const all = Array.isArray(body.parts) ? (body.parts as Body[]) : []
  return all.map((p) => (p.kind === 'tool_call' ? `→ ${String(p.tool ?? p.name ?? 'tool')} ${textOf(p.args)}` : textOf(p.text))).join(' ')
}

function command(body: Body): string {
  const args = textOf(body.args)
  try {
    const words = JSON.parse(args) as string[]
    return `$ ${words[0] === 'sh' && words[1] === '-c' ? words.slice(2).join(' ') : words.join(' ')}`
  } catch {
    return args
  }
}

// The members that say most, the most telling first; any other text comes after them.
const telling = ['title', 'grade', 'status', 'text', 'content', 'answer', 'output', 'reason', 'query', 'task', 'belief', 'desire', 'intention', 'to', 'model', 'program', 'driver', 'ref']

/** gist says in a line what an event is about. The event itself is one click away. */
export function gist(event: Event): string {
  const body = event.body as Body
  if (event.type === 'cli.run') return clip(command(body), most)
  if (event.type === 'cli.exit') return `exit ${String(body.exit ?? '?')}`
  if (event.type === 'model.result') return clip(flatten(parts(body)), most)
  if (event.type === 'file.diff') {
    const changes = Array.isArray(body.changes) ? (body.changes as Body[]) : []
    return clip(changes.map((c) => `${String(c.kind)} ${String(c.path)}`).join(', '), most)
  }
  const found = telling.map((name) => textOf(body[name])).filter(Boolean)
  return clip(flatten(found.slice(0, 3).join(' · ')), most)
}

const flatten = (text: string) => text.replace(/\s+/g, ' ').trim()
