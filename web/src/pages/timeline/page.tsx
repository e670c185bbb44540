import { memo, useEffect, useMemo, useRef, useState } from 'react'
import { questPath, query as search } from '../../api/client'
import type { Timeline as Index } from '../../api/types'
import { useLive, useQuestResource } from '../../live/context'
import { go, questLink } from '../../route'
import { visible } from '../../text/plain'
import { clock, count } from '../../ui/show'
import { VirtualList, type Scroller } from '../../ui/virtual'
import { Broken, Empty } from '../../ui/states'
import { EventPanel } from './event'
import { Filters } from './filters'
import { filtered, useRows, type Filter } from './rows'
import './timeline.css'

/** Timeline is the ledger, all of it. */
export default function Timeline({ name, query }: { name: string; query: URLSearchParams }) {
  const { snapshot, quest } = useLive()
  const filter = useMemo<Filter>(() => ({
    type: query.get('type') ?? '', actor: query.get('actor') ?? '', tool: query.get('tool') ?? '', text: query.get('text') ?? '',
  }), [query])
  const seq = Number(query.get('seq') ?? 0)
  const narrow = filtered(filter)
  const index = useQuestResource<Index>(questPath(name, `/timeline${search({ ...filter, seqs: narrow })}`))
  const head = Math.max(snapshot.head, quest.data?.events ?? 0)
  const seqs = narrow ? index.data?.seqs ?? undefined : undefined
  const rows = narrow ? (seqs?.length ?? 0) : head
  const { need, at, seqOf } = useRows(name, filter, rows, seqs)
  const list = useRef<Scroller>(null)
  const selected = seq === 0 ? -1 : narrow ? (seqs?.indexOf(seq) ?? -1) : seq - 1
  const shown = useRef(0)
  // A link to an event brings it into view once; a click on a row leaves the list where it is.
  useEffect(() => {
    if (seq === 0 || seq === shown.current || selected < 0) return
    shown.current = seq
    list.current?.show(selected)
  }, [seq, selected])
  const to = (change: Record<string, string | number | undefined>) => go(questLink(name, 'timeline', { ...filter, seq: seq || undefined, ...change }), true)
  const [following, setFollowing] = useState(seq === 0 && quest.data?.running === true)
  return (
    <div className="page full timeline">
      <h2 className="hidden-label">Timeline</h2>
      <Filters index={index.data} filter={filter} head={head} onChange={(f) => to({ ...f })}
        onJump={(n) => { setFollowing(false); shown.current = 0; to({ seq: n }) }} onEnd={() => { setFollowing(true); list.current?.end() }} />
      <div className={seq > 0 ? 'timeline-body with-panel' : 'timeline-body'}>
        <div className="timeline-list">
          {index.failure && narrow && !index.data && <Broken failure={index.failure} again={index.again} />}
          {rows === 0 && !index.loading ? <Empty title="No events">{narrow ? 'None passes this filter. Take something away from it.'
            : 'The ledger begins when the quest is made.'}</Empty> : (
            <VirtualList ref={list} count={rows} rowHeight={30} label={`Events of ${name}`} selected={selected} follow={following} onRange={need}
              onSelect={(i) => { shown.current = seqOf(i); to({ seq: seqOf(i) }) }} row={(i) => <Row seq={seqOf(i)} row={at(i)} />} />
          )}
          <p className="timeline-count small muted num" role="status">
            {narrow ? `${count(rows)} of ${count(head)} events${index.data?.truncated ? ', the first 200,000 are listed' : ''}` : `${count(head)} events`}
            {index.loading && narrow && ' · looking…'}
          </p>
        </div>
        {seq > 0 && <EventPanel quest={name} seq={seq} head={head} onClose={() => to({ seq: undefined })}
          onGo={(n) => { shown.current = 0; to({ seq: n }) }} />}
      </div>
    </div>
  )
}

const Row = memo(function Row({ seq, row }: { seq: number; row: ReturnType<ReturnType<typeof useRows>['at']> }) {
  if (!row) return <div className="erow"><span className="eseq num">{seq}</span><span className="muted">…</span></div>
  const { event, input, line } = row
  return (
    <div className="erow">
      <span className="eseq num">{event.seq}</span>
      <span className="etime num">{clock(event.time)}</span>
      <span className="eactor clip">{event.actor}</span>
      <span className={`etype clip ${input ? 'input' : ''} ${tone(event.type)}`} title={input ? 'an input' : 'derived by the rules'}>{event.type}
        {event.tool && <span className="etool"> {event.tool}</span>}</span>
      <span className="eline clip">{visible(line)}</span>
    </div>
  )
})

function tone(type: string): string {
  if (/blocked|failed|exceeded|attacked|challenge/.test(type)) return 'tone-bad'
  return /finished|decided|justification/.test(type) ? 'tone-good' : ''
}
