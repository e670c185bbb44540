import { useEffect, useState } from 'react'
import { useLive } from '../../live/context'

/** Lost says that what is shown may be old, and when the next try is. */
export function Lost() {
  const { snapshot: { connection }, now } = useLive()
  const [, tick] = useState(0)
  const lost = connection.kind === 'lost'
  useEffect(() => {
    if (!lost) return
    const timer = window.setInterval(() => tick((n) => n + 1), 500)
    return () => window.clearInterval(timer)
  }, [lost])
  if (connection.kind !== 'lost') return null
  const left = Math.max(0, Math.ceil((connection.retryAt - Date.now()) / 1000))
  return (
    <div className="lost">
      <span role="status">Connection lost: {connection.reason}.</span>
      <span className="num" aria-hidden="true">Trying again in {left} s</span>
      <button className="button small" onClick={now}>Try now</button>
    </div>
  )
}
