import { useEffect, useRef, useState, type DragEvent } from 'react'
import { Failure } from '../../api/client'
import { ended, endJob, follow, sendCrate, why } from '../../api/jobs'
import type { Job } from '../../api/types'
import { go, questLink } from '../../route'
import { flat, Words } from '../../text/plain'
import { Progress } from '../../ui/progress'

type Coming = { state: 'none' } | { state: 'busy'; file: File; job: Pick<Job, 'state' | 'done' | 'of' | 'unit'>; id?: string }
  | { state: 'failed'; file: File; why: string; taken: boolean }

export type Crate = {
  over: boolean
  coming: Coming
  drops: { onDragOver: (e: DragEvent) => void; onDragLeave: (e: DragEvent) => void; onDrop: (e: DragEvent) => void }
  take: (files: readonly File[], as?: string) => void
  end: () => void
  close: () => void
}

const carriesFiles = (event: DragEvent) => event.dataTransfer.types.includes('Files')

/** useCrate takes exported quests that are dropped on the list, or chosen. */
export function useCrate(): Crate {
  const [over, setOver] = useState(false)
  const [coming, setComing] = useState<Coming>({ state: 'none' })
  const stop = useRef<AbortController>(undefined)
  useEffect(() => () => stop.current?.abort(), []) // an upload ends with the page that sends it
  const bring = async (file: File, as: string) => {
    stop.current?.abort()
    const mine = new AbortController()
    stop.current = mine
    const tell = (now: Coming) => { if (stop.current === mine) setComing(now) }
    try {
      const received = (sent: { done: number; of: number }) => tell({ state: 'busy', file, job: { ...sent, state: 'receiving', unit: 'bytes' } })
      received({ done: 0, of: file.size })
      const job = await follow(await sendCrate(file, as, received, mine.signal), (now) => tell({ state: 'busy', file, job: now, id: now.id }), mine.signal)
      tell({ state: 'none' })
      if (!mine.signal.aborted && job.quest) go(questLink(job.quest))
    } catch (error) {
      tell(ended(error) ? { state: 'none' } : { state: 'failed', file, why: why(error), taken: error instanceof Failure && error.code === 'conflict' })
    }
  }
  const take = (files: readonly File[], as = '') => {
    const [file] = files
    if (!file) return
    const many = `These are ${files.length} files: drop one exported quest at a time. A new quest of files is made under New quest.`
    if (files.length > 1) setComing({ state: 'failed', file, taken: false, why: many })
    else void bring(file, as)
  }
  return {
    over, coming, take,
    drops: {
      onDragOver: (e) => { if (carriesFiles(e)) { e.preventDefault(); setOver(true) } },
      onDragLeave: (e) => { if (!e.currentTarget.contains(e.relatedTarget as Node | null)) setOver(false) },
      onDrop: (e) => { if (carriesFiles(e)) { e.preventDefault(); setOver(false); take([...e.dataTransfer.files]) } },
    },
    // While it is sent, ending the request is enough; then the server is told.
    end: () => { if (coming.state === 'busy' && coming.id) void endJob(coming.id).catch(() => {}); else stop.current?.abort() },
    close: () => setComing({ state: 'none' }),
  }
}

/** CrateButton chooses an exported quest where nothing can be dropped. */
export function CrateButton({ crate }: { crate: Crate }) {
  const input = useRef<HTMLInputElement>(null)
  return (
    <>
      <button className="button" disabled={crate.coming.state === 'busy'} onClick={() => input.current?.click()}>Import</button>
      <input ref={input} type="file" hidden aria-label="An exported quest" accept=".zip,application/zip"
        onChange={(e) => { crate.take([...(e.target.files ?? [])]); e.target.value = '' }} />
    </>
  )
}

/** CrateComing says how far an import is, or why there is none. */
export function CrateComing({ crate }: { crate: Crate }) {
  const { coming } = crate
  const [as, setAs] = useState('')
  if (coming.state === 'none') return null
  if (coming.state === 'busy') {
    const what = `${coming.job.state === 'receiving' ? 'Sending' : 'Checking'} ${flat(coming.file.name)}`
    return <p className="note crate" role="status"><Progress what={what} job={coming.job} onStop={crate.end} /></p>
  }
  return (
    <div className="note bad crate stack tight" role="alert">
      <p><b><Words>{coming.file.name}</Words></b> was not imported. <Words>{coming.why}</Words></p>
      <div className="row">
        {coming.taken && (
          <form className="row" onSubmit={(e) => { e.preventDefault(); crate.take([coming.file], as.trim()) }}>
            <label className="row small">Name here <input value={as} onChange={(e) => setAs(e.target.value)} required /></label>
            <button className="button first">Import under this name</button>
          </form>
        )}
        <button className="button" onClick={crate.close}>Close</button>
      </div>
    </div>
  )
}
