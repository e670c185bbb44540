import { key, resume } from './session'
import type * as t from './types'

/** Failure is an answer of the server that says no, or no answer at all (status 0). */
export class Failure extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly fields: t.FieldError[] = [],
  ) {
    super(message)
  }
}

export const unreachable =
  'The server does not answer. If it is not running, start it with: lyceum serve. Then try again.'

async function ask(path: string, init: RequestInit = {}): Promise<Response> {
  const response = await once(path, init)
  if (response.ok) return response
  if (response.status === 401 && (await resume())) {
    const again = await once(path, init)
    if (again.ok) return again
    throw await failureOf(again)
  }
  throw await failureOf(response)
}

async function once(path: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(`/api${path}`, {
      ...init,
      headers: { Accept: 'application/json', 'Lyceum-Key': key(), ...init.headers },
      credentials: 'same-origin',
    })
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error
    throw new Failure(0, 'unreachable', unreachable)
  }
}

// A proxy in front may answer with something that is not ours: then the status is
// all there is to tell.
async function failureOf(response: Response): Promise<Failure> {
  try {
    const { error } = (await response.json()) as t.Error
    const fields = error.fields ?? (error.field ? [{ field: error.field, message: error.message }] : [])
    return new Failure(response.status, error.code, error.message, fields)
  } catch {
    return new Failure(response.status, 'unknown', `The server answered with status ${response.status}.`)
  }
}

export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  const response = await ask(path, { signal })
  return (await response.json()) as T
}

/** getText gives an answer's own bytes as text: hashes are over bytes, not over what JSON.parse makes of them. */
export async function getText(path: string, signal?: AbortSignal): Promise<string> {
  return (await ask(path, { signal })).text()
}

export async function getBytes(path: string, signal?: AbortSignal): Promise<ArrayBuffer> {
  return (await ask(path, { signal, headers: { Accept: '*/*' } })).arrayBuffer()
}

export async function send<T>(method: string, path: string, body?: unknown): Promise<T> {
  const response = await ask(path, {
    method,
    headers: body === undefined ? {} : { 'Content-Type': 'application/json' },
    body: body === undefined ? undefined : JSON.stringify(body),
  })
  return response.status === 204 ? (undefined as T) : ((await response.json()) as T)
}

export const validate = (quest: t.NewQuest) => send<t.Validation>('POST', '/validate', quest)
export const create = (quest: t.NewQuest) => send<t.Detail>('POST', '/quests', quest)
export const remove = (quest: string) => send<void>('DELETE', `/quests/${quest}`)
export const control = (quest: string, order: t.Control) =>
  send<t.Controlled>('POST', `/quests/${quest}/control`, order)
export const say = (quest: string, message: t.NewMessage) =>
  send<t.Posted>('POST', `/quests/${quest}/messages`, message)
export const answer = (quest: string, reply: t.Answer) =>
  send<t.Posted>('POST', `/quests/${quest}/answers`, reply)
export const withdraw = (quest: string, message: number) =>
  send<t.Posted>('DELETE', questPath(quest, `/messages/${message}`))
export const orderTask = (quest: string, task: string, order: t.TaskOrder) =>
  send<t.Posted>('POST', questPath(quest, `/tasks/${encodeURIComponent(task)}/orders`), order)
export const saveDocument = (quest: string, document: string, saved: t.SavedDocument) =>
  send<t.Posted>('POST', questPath(quest, `/documents/${encodeURIComponent(document)}`), saved)

export const validateStudy = (study: t.NewStudy) => send<t.StudyValidation>('POST', '/validate-study', study)
export const makeStudy = (study: t.NewStudy) => send<t.StudyView>('POST', '/studies', study)
export const controlStudy = (study: string, action: t.StudyOrder['action']) =>
  send<t.StudyView>('POST', studyPath(study, '/control'), { action })
export const studyPath = (study: string, rest = '') => `/studies/${encodeURIComponent(study)}${rest}`
/** studyCSV is where a browser fetches the table of a study by itself. */
export const studyCSV = (study: string) => `/api${studyPath(study, '/csv')}${query({ key: key() })}`

/** query makes ?a=b of what is set. */
export function query(values: Record<string, string | number | boolean | undefined>): string {
  const parts = Object.entries(values).filter(([, v]) => v !== undefined && v !== '' && v !== false)
  if (parts.length === 0) return ''
  return `?${parts.map(([k, v]) => `${k}=${encodeURIComponent(String(v))}`).join('&')}`
}

export const questPath = (quest: string, rest = '') => `/quests/${encodeURIComponent(quest)}${rest}`
export const agentPath = (quest: string, agent: string, rest = '') =>
  questPath(quest, `/agents/${encodeURIComponent(agent)}${rest}`)
export const blobPath = (hash: string) => `/blobs/${encodeURIComponent(hash)}`
/** blobLink is where a browser fetches a blob by itself: an image, a download. */
export const blobLink = (hash: string, name = '') => `/api${blobPath(hash)}${query({ name, key: key() })}`
