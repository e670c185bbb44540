import { createContext, use, useCallback, useMemo, useState, type ReactNode } from 'react'
import { questPath } from '../../api/client'
import { endJob, startJob } from '../../api/jobs'
import { useResource } from '../../api/resource'
import type { Checked, Detail, QuestRecord } from '../../api/types'
import { fetchCrate, useJob, type Doing } from '../../api/usejob'
import { questLink } from '../../route'
import { Words } from '../../text/plain'
import { several, When } from '../../ui/show'
import { Progress } from '../../ui/progress'

type Recorded = { record?: QuestRecord; check: Doing; checkNow: () => void; pack: Doing; packNow: () => void; end: (doing: Doing) => void; found?: Checked }

const Context = createContext<Recorded | null>(null)

/** Recorded shares what is known of a quest's record between its title and its page. */
export function Recorded({ quest, children }: { quest: Detail; children: ReactNode }) {
  const [round, setRound] = useState(0)
  // Who signed it is asked again when it comes to rest, which is when it is signed.
  const record = useResource<QuestRecord>(questPath(quest.name, '/record'), round * 2 + (quest.running ? 1 : 0))
  const [check, checkNow] = useJob(useCallback(() => startJob(quest.name, 'verify'), [quest.name]), useCallback(() => setRound((n) => n + 1), []))
  const [pack, packNow] = useJob(useCallback(() => startJob(quest.name, 'export'), [quest.name]), fetchCrate)
  const value = useMemo(() => ({
    record: record.data, check, checkNow, pack, packNow,
    end: (doing: Doing) => { if (doing.state === 'busy') void endJob(doing.job.id).catch(() => {}) },
    found: check.state === 'done' ? check.job.checked : undefined,
    // eslint-disable-next-line react-hooks/exhaustive-deps -- the two that begin are new each time and do the same
  }), [record.data, check, pack])
  return <Context value={value}>{children}</Context>
}

export function useRecorded(): Recorded {
  const recorded = use(Context)
  if (!recorded) throw new Error('useRecorded outside of Recorded')
  return recorded
}

/** Known is what is known of a quest, in the line under its title. */
export function Known({ quest }: { quest: Detail }) {
  const { record, check, checkNow, end } = useRecorded()
  if (check.state === 'busy') return <div className="known" role="status"><Progress what="Checking" job={check.job} onStop={() => end(check)} /></div>
  const bad = record?.checked?.wrong ?? record?.missing?.[0]
  return (
    <div className="known small muted">
      {record && <a href={questLink(quest.name)} className={bad ? 'bad' : ''}>
        {bad ? <>It differs: <Words>{bad}</Words></> : <Said record={record} events={quest.events} />}</a>}
      {check.state === 'failed' && <span className="bad" role="alert"><Words>{check.why}</Words></span>}
      {record && <button className="button small" onClick={checkNow}>Check now</button>}
    </div>
  )
}

/** Said is the line: what was found, who signed, who else saw it, and when it was checked. */
function Said({ record, events }: { record: QuestRecord; events: number }) {
  const { checked, signed, seen, witnesses } = record
  const since = checked ? events - checked.events : 0
  const part = (upTo: number) => (upTo < events ? ` up to event ${upTo}` : '')
  return (
    <>
      {checked ? <>{several(checked.events, 'event')} {checked.verdict === 'identical' ? '' : 'consistent, '}{checked.replayed && 'replayed identically'}
        {since > 0 && `, ${since} since`}</> : `${several(events, 'event')}, not checked here yet`}
      {signed ? <>, signed by <Words>{signed.by.join(', ')}</Words>{part(signed.events)}</> : ', not signed'}
      {witnesses > 0 && `, witnessed by ${witnesses}${part(seen?.events ?? 0)}`}
      {seen && witnesses === 0 && <>, stamped by <Words>{seen.by.join(', ')}</Words>{part(seen.events)}</>}
      {checked && <>, <When time={checked.time} /></>}
    </>
  )
}
