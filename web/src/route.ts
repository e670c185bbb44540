import { useSyncExternalStore } from 'react'

// Places are written behind the #, so that every one of them can be linked to and the
// server serves one file for all.
export type Route = { parts: string[]; query: URLSearchParams }

function parse(hash: string): Route {
  const [path = '', search = ''] = hash.replace(/^#\/?/, '').split('?')
  const parts = path.split('/').filter(Boolean).map(decode)
  return { parts, query: new URLSearchParams(search) }
}

// A link that somebody cut in the middle of an escape must not blank the page.
function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

let lastHash = ''
let lastRoute = parse('')

function current(): Route {
  if (window.location.hash !== lastHash) {
    lastHash = window.location.hash
    lastRoute = parse(lastHash)
  }
  return lastRoute
}

function listen(changed: () => void): () => void {
  window.addEventListener('hashchange', changed)
  return () => window.removeEventListener('hashchange', changed)
}

export const useRoute = (): Route => useSyncExternalStore(listen, current)

type Values = Record<string, string | number | undefined>

export function link(parts: string[], values: Values = {}): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(values)) {
    if (value !== undefined && value !== '') search.set(name, String(value))
  }
  const query = search.toString()
  return `#/${parts.map(encodeURIComponent).join('/')}${query ? `?${query}` : ''}`
}

export const questLink = (quest: string, page = '', values: Values = {}) =>
  link(page ? ['q', quest, ...page.split('/')] : ['q', quest], values)

export function go(target: string, replace = false): void {
  if (!replace) window.location.hash = target
  else {
    history.replaceState(history.state, '', target)
    window.dispatchEvent(new HashChangeEvent('hashchange'))
  }
}
