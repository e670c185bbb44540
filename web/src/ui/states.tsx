import type { ReactNode } from 'react'
import type { Failure } from '../api/client'
import type { Resource } from '../api/resource'
import { visible } from '../text/plain'

export const Loading = ({ what }: { what: string }) => (
  <div className="state compact" role="status"><span className="waiting" aria-hidden="true" /><p>Reading {what}…</p></div>
)

/** Empty says that there is nothing, and what to do about it. alone: it is all that the page has, its heading too. */
export function Empty({ title, children, action, alone = false }: { title: string; children?: ReactNode; action?: ReactNode; alone?: boolean }) {
  return (
    <div className="state">
      {alone ? <h1>{title}</h1> : <h2>{title}</h2>}
      {children && <p>{children}</p>}
      {action && <div className="row">{action}</div>}
    </div>
  )
}

const advice: Record<number, string> = {
  401: 'This browser is not signed in, or the server was started anew since. Open the link that lyceum serve printed: it opens once,'
    + ' within five minutes. Another is printed by: lyceum serve --link',
  403: 'This is not open to you: the token that you came with does not reach so far, or the address is not the one that lyceum serve printed.',
  404: 'It may have been removed, or the link is wrong.',
  429: 'Wait a minute, then try again.',
}

export function Broken({ failure, again, alone = false }: { failure: Failure; again?: () => void; alone?: boolean }) {
  const title = failure.status === 0 ? 'No connection' : failure.status === 401 ? 'Not signed in'
    : failure.status === 404 ? 'Not here' : 'That did not work'
  return (
    <div className="state" role="alert">
      {alone ? <h1>{title}</h1> : <h2>{title}</h2>}
      <p>{advice[failure.status] ?? visible(failure.message)}</p>
      {advice[failure.status] && <p className="small muted">The server says: {visible(failure.message)}</p>}
      <div className="row">
        {again && <button className="button first" onClick={again}>Try again</button>}
        <a className="button" href="#/">All quests</a>
      </div>
    </div>
  )
}

/** Ready shows a resource once it is there; what failed or is still coming says so. */
export function Ready<T>({ of, what, children }: { of: Resource<T>; what: string; children: (data: T) => ReactNode }) {
  if (of.data !== undefined) {
    return (
      <>
        {of.failure && of.failure.status !== 0 && <p className="note bad" role="alert">{visible(of.failure.message)}</p>}
        {children(of.data)}
      </>
    )
  }
  if (of.failure) return <Broken failure={of.failure} again={of.again} />
  return <Loading what={what} />
}
