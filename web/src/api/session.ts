// A browser gives a cookie to every port of a host, so the server wants a key besides, which the
// browser keeps for this origin alone. The link that signs in leads here with it behind the #.

import type { Resumed, Resumption, Session } from './types'

const place = 'lyceum-key'
let kept: string | undefined

/** key is what each request brings; empty where the browser is not signed in. */
export function key(): string {
  try {
    return window.localStorage.getItem(place) ?? kept ?? ''
  } catch {
    return kept ?? '' // a browser may keep nothing: then it is good until the page is left
  }
}

/**
 * signIn takes the key out of the address. Any site can lead here with a wrong one, so it takes the
 * place of another only if the server knows it.
 */
export async function signIn(): Promise<void> {
  const given = /^#key=([0-9a-f]{64})$/.exec(window.location.hash)?.[1]
  if (!given) return
  history.replaceState(history.state, '', '/')
  if (key() && key() !== given && !(await opens(given))) return
  keep(given)
}

function keep(given: string): void {
  kept = given
  try {
    window.localStorage.setItem(place, given)
  } catch {
    // see key
  }
}

async function opens(given: string): Promise<boolean> {
  try {
    return (await fetch('/api/examples', { headers: { 'Lyceum-Key': given }, credentials: 'same-origin' })).ok
  } catch {
    return false
  }
}

// Without TLS cookie and key are good for one run of the server. A page that is open when the
// server starts anew goes on by a secret that is nowhere but in its memory: whoever has taken the
// port meanwhile cannot prove to know it, and is given nothing.
let session: { id: string; secret: string } | undefined
let resuming: Promise<boolean> | undefined

/** remember asks for what it takes to go on with the next run of the server. */
export async function remember(): Promise<void> {
  if (!key()) return
  try {
    const answer = await fetch('/api/session', { headers: { 'Lyceum-Key': key() }, credentials: 'same-origin' })
    const { id, secret } = answer.ok ? ((await answer.json()) as Session) : {}
    if (id && secret) session = { id, secret }
  } catch {
    // the page works without, until the server starts anew
  }
}

/** resume signs the page in at a server that was started anew; false if it cannot, or is another. */
export function resume(): Promise<boolean> {
  resuming ??= proveEachOther().catch(() => false).finally(() => { resuming = undefined })
  return resuming
}

async function proveEachOther(): Promise<boolean> {
  if (!session) return false
  const { id, secret } = session
  const at = window.location.host
  const nonce = hex(crypto.getRandomValues(new Uint8Array(24)).buffer)
  const theirs = await say({ id, at, nonce })
  if (!theirs || theirs.proof !== (await proof(secret, 'server', at, nonce))) return false
  const challenge = theirs.challenge ?? ''
  const opened = await say({ id, at, nonce, challenge, proof: await proof(secret, 'page', at, nonce, challenge) })
  if (!opened?.key) return false
  keep(opened.key)
  return true
}

async function say(words: Resumption): Promise<Resumed | undefined> {
  const answer = await fetch('/api/session', {
    method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(words), credentials: 'same-origin',
  })
  return answer.ok ? ((await answer.json()) as Resumed) : undefined
}

async function proof(secret: string, ...words: string[]): Promise<string> {
  const bytes = new TextEncoder()
  const by = await crypto.subtle.importKey('raw', bytes.encode(secret), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
  return hex(await crypto.subtle.sign('HMAC', by, bytes.encode(words.join('\n'))))
}

const hex = (bytes: ArrayBuffer): string => [...new Uint8Array(bytes)].map((b) => b.toString(16).padStart(2, '0')).join('')
