import type { Job } from '../api/types'
import { bytes, count } from './show'

type Props = { what: string; job: Pick<Job, 'state' | 'done' | 'of' | 'unit'>; onStop?: () => void }

/** Progress says how far a job is, and lets a person end it. */
export function Progress({ what, job, onStop }: Props) {
  const show = job.unit === 'bytes' ? bytes : count
  const text = job.state === 'waiting' ? `${what}: waits for its turn`
    : job.of > 0 ? `${what}: ${show(job.done)} of ${show(job.of)}${job.unit === 'events' ? ' events' : ''}` : `${what}…`
  return (
    <span className="progress small">
      <span>{text}</span>
      <progress aria-label={what} value={job.of > 0 ? job.done : undefined} max={job.of > 0 ? job.of : undefined} />
      {onStop && <button className="button small" onClick={onStop}>End</button>}
    </span>
  )
}
