import { Failure, get, query, send, unreachable } from './client'
import { key, resume } from './session'
import type { Error as Refusal, Job, NewJob } from './types'

export const startJob = (quest: string, kind: NewJob['kind']) => send<Job>('POST', `/quests/${encodeURIComponent(quest)}/jobs`, { kind })
export const packStudy = (study: string) => send<Job>('POST', `/studies/${encodeURIComponent(study)}/jobs`, { kind: 'export' })
export const endJob = (job: string) => send<Job>('DELETE', `/jobs/${encodeURIComponent(job)}`)
/** crateLink is where a browser fetches an exported quest by itself, however large it is. */
export const crateLink = (job: string) => `/api/jobs/${encodeURIComponent(job)}/crate${query({ key: key() })}`

/** lost is what happened to a job that its server does not know. */
const lost = 'The server was started again, and what it was doing ended with it: nothing was changed. Start it once more.'

const pause = (ms: number) => new Promise((done) => window.setTimeout(done, ms))

/** follow asks how far a job is until it is over. A server that does not answer is asked again. */
export async function follow(begun: Job, told: (job: Job) => void, signal: AbortSignal): Promise<Job> {
  let job = begun
  for (let wait = 60; !job.over; wait = Math.min(600, wait * 1.5)) {
    told(job)
    await pause(wait)
    try {
      job = await get<Job>(`/jobs/${encodeURIComponent(job.id)}`, signal)
    } catch (error) {
      if (error instanceof Failure && error.status === 404) throw new Failure(404, 'lost', lost)
      if (!(error instanceof Failure && error.status === 0)) throw error
    }
    signal.throwIfAborted()
  }
  if (job.state === 'failed') throw new Failure(0, job.error?.code ?? 'failed', job.error?.message ?? 'It failed.')
  if (job.state === 'ended') throw new DOMException('ended', 'AbortError')
  return job
}

type Sent = { done: number; of: number }

/** sendCrate uploads an exported quest. Only this old way tells how much of a body has gone. */
export async function sendCrate(file: File, as: string, told: (sent: Sent) => void, signal: AbortSignal): Promise<Job> {
  try {
    return await sendOnce(file, as, told, signal)
  } catch (error) {
    if (!(error instanceof Failure && error.status === 401 && (await resume()))) throw error
    return await sendOnce(file, as, told, signal)
  }
}

const sendOnce = (file: File, as: string, told: (sent: Sent) => void, signal: AbortSignal) => new Promise<Job>((done, failed) => {
  const request = new XMLHttpRequest()
  const stop = () => request.abort()
  signal.addEventListener('abort', stop)
  request.open('POST', `/api/imports${query({ as })}`)
  request.setRequestHeader('Accept', 'application/json')
  request.setRequestHeader('Content-Type', 'application/zip')
  request.setRequestHeader('Lyceum-Key', key())
  request.upload.onprogress = (e) => told({ done: e.loaded, of: e.total })
  request.onabort = () => failed(new DOMException('ended', 'AbortError'))
  request.onerror = () => failed(new Failure(0, 'unreachable', `The connection broke off, and nothing was taken over. ${unreachable}`))
  request.onload = () => {
    if (request.status === 202) done(JSON.parse(request.responseText) as Job)
    else failed(refused(request))
  }
  request.onloadend = () => signal.removeEventListener('abort', stop)
  request.send(file)
})

function refused(request: XMLHttpRequest): Failure {
  try {
    const { error } = JSON.parse(request.responseText) as Refusal
    return new Failure(request.status, error.code, error.message)
  } catch {
    return new Failure(request.status, 'unknown', `The server answered with status ${request.status}.`)
  }
}

export const ended = (error: unknown) => error instanceof DOMException && error.name === 'AbortError'
export const why = (error: unknown) => (error instanceof Failure ? error.message : String(error))
