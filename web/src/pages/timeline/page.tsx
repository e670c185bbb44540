import { memo, useEffect, useMemo, useRef, useState } from 'react'
import { questPath, query as search } from '../../api/client'
import type { Timeline as Index, Lanes as LanesData } from '../../api/types'
import { useLive, useQuestResource } from '../../live/context'
import { go, questLink } from '../../route'
import { visible } from '../../text/plain'
import { clock, count, duration, money, several, short } from '../../ui/show'
import { VirtualList, type Scroller } from '../../ui/virtual'
import { Broken, Empty } from '../../ui/states'
import { EventPanel } from './event'
import { Filters } from './filters'
import { Lanes } from './lanes'
import { filtered, useRows, within, type Filter, type Row as Read } from './rows'
import './timeline.css'

// Of a longer ledger the list of its rows would be megabytes: there every event is a row.
const mostJoined = 250_000

/** Timeline is the ledger, all of it. */
export default function Timeline({ name, query }: { name: string; query: URLSearchParams }) {
  const { snapshot, quest } = useLive()
  const filter = useMemo<Filter>(() => ({
    type: query.get('type') ?? '', actor: query.get('actor') ?? '', tool: query.get('tool') ?? '', text: query.get('text') ?? '',
  }), [query])
  const seq = Number(query.get('seq') ?? 0)
  const narrow = filtered(filter)
  const head = Math.max(snapshot.head, quest.data?.events ?? 0)
  const each = query.get('each') === '1'
  const joined = !narrow && !each && head <= mostJoined
  const index = useQuestResource<Index>(questPath(name, `/timeline${search(joined ? { joined } : { ...filter, seqs: narrow })}`))
  const [from, to] = [Number(query.get('from') ?? 0) || 0, Number(query.get('to') ?? 0) || 0]
  const lanes = useQuestResource<LanesData>(questPath(name, `/lanes${search({ from: from || undefined, to: to || undefined, parts: 300 })}`))
  const zoomed = from > 0 || to > 0
  // What was drawn stays until the next is there: whoever zooms by keys keeps the focus.
  const drawn = useRef<LanesData>(undefined)
  drawn.current = lanes.data ?? drawn.current
  const [first, last] = zoomed && drawn.current ? [drawn.current.first, drawn.current.last] : [1, head]
  const some = useMemo(() => {
    const { seqs, ends } = index.data ?? {}
    if (!(narrow || joined) || !seqs) return { first }
    const [begin, end] = within(seqs, first, last)
    return { first, seqs: seqs.slice(begin, end), ends: joined ? ends?.slice(begin, end) : undefined }
  }, [index.data, narrow, joined, first, last])
  const waits = (narrow || joined) && !some.seqs
  const rows = waits ? 0 : some.seqs ? some.seqs.length : Math.max(0, last - first + 1)
  const { need, at, seqOf } = useRows(name, `${Object.values(filter).join('|')}|${joined}|${zoomed ? `${first}-${last}` : ''}`, rows, some)
  const list = useRef<Scroller>(null)
  const selected = seq === 0 || waits ? -1 : some.seqs ? rowOf(some.seqs, some.ends, seq) : seq >= first && seq <= last ? seq - first : -1
  const shown = useRef(0)
  // A link to an event brings it into view once; a click on a row leaves the list where it is.
  useEffect(() => {
    if (seq === 0 || seq === shown.current || selected < 0) return
    shown.current = seq
    list.current?.show(selected)
  }, [seq, selected])
  const show = (change: Record<string, string | number | undefined>) => 
    go(questLink(name, 'timeline', { ...filter, seq: seq || undefined, from: from || undefined, to: to || undefined, each: each ? 1 : undefined, ...change }),
      true)
  const [following, setFollowing] = useState(seq === 0 && quest.data?.running === true)
  return (
    <div className="page full timeline">
      <h2 className="hidden-label">Timeline</h2>
      <Filters index={index.data} filter={filter} head={head} onChange={(f) => show({ ...f })}
        onJump={(n) => { setFollowing(false); shown.current = 0; show({ seq: n, from: undefined, to: undefined }) }}
        onEnd={() => { setFollowing(true); list.current?.end() }}
        each={each} onEach={narrow || head > mostJoined ? undefined : (on) => show({ each: on ? 1 : undefined })} />
      {drawn.current && drawn.current.lanes.length > 0 && <Lanes data={drawn.current} zoomed={zoomed} onOpen={(n) => { shown.current = 0; show({ seq: n }) }}
        onPick={(w) => { setFollowing(false); show({ from: w?.from, to: w?.to }) }} />}
      <div className={seq > 0 ? 'timeline-body with-panel' : 'timeline-body'}>
        <div className="timeline-list">
          {index.failure && narrow && !index.data && <Broken failure={index.failure} again={index.again} />}
          {rows === 0 && !index.loading && !waits ? <Empty title="No events">{narrow ? 'None passes this filter. Take something away from it.'
            : 'The ledger begins when the quest is made.'}</Empty> : (
            <VirtualList ref={list} count={rows} rowHeight={30} label={`Events of ${name}`} selected={selected} follow={following} onRange={need}
              onSelect={(i) => { shown.current = seqOf(i); show({ seq: seqOf(i) }) }} row={(i) => <Row seq={seqOf(i)} row={at(i)} />} />
          )}
          <p className="timeline-count small muted num" role="status">
            {narrow || zoomed ? `${count(rows)} of ${several(head, 'event')}` : several(head, 'event')}
            {narrow && index.data?.truncated && ', the first 200,000 are listed'}
            {joined && !zoomed && `, in ${several(rows, 'row')}: a call and its result are one`}
            {index.loading && narrow && ' · looking…'}
          </p>
        </div>
        {seq > 0 && <EventPanel quest={name} seq={seq} head={head} onClose={() => show({ seq: undefined })}
          onGo={(n) => { shown.current = 0; show({ seq: n }) }} />}
      </div>
    </div>
  )
}

// The row of an event: its own, or that of the call that it ended.
function rowOf(seqs: readonly number[], ends: readonly number[] | undefined, seq: number): number {
  const [at] = within(seqs, seq, seq)
  if (seqs[at] === seq || !ends) return seqs[at] === seq ? at : -1
  for (let i = at - 1; i >= 0 && i > at - 5000; i--) if ((seqs[i] ?? 0) + (ends[i] ?? 0) === seq) return i
  return at - 1
}

const Row = memo(function Row({ seq, row }: { seq: number; row: Read | undefined }) {
  if (!row) return <div className="erow" aria-busy="true"><span className="eseq num">{seq}</span><span className="muted">…</span></div>
  const { event, input, line, end } = row
  const bad = tone(event.type) || (end && wrong(end.event.body) ? 'tone-bad' : '')
  return (
    <div className="erow">
      <span className="eseq num">{event.seq}</span>
      <span className="etime num">{clock(event.time)}</span>
      <span className="eactor clip">{event.actor}</span>
      <span className={`etype clip ${input ? 'input' : ''} ${bad}`} title={input ? 'an input' : 'derived by the rules'}>
        {end ? event.type.replace('.call', '') : event.type}
        {event.tool && <span className="etool"> {event.tool}</span>}</span>
      <span className="eline clip">{said(row) ?? <>{visible(line || event.type.replace('.', ' '))}
        {end && <span className="eend"> → {visible(end.line || 'done')}</span>}</>}</span>
      <Took row={row} />
    </div>
  )
})

// That a model was asked is in its row anyway: what it said is what the row is read for.
const said = ({ event, end }: Read) => (end?.line && event.type === 'model.call' ? <span className="eend">{visible(end.line)}</span> : undefined)

const wrong = (body: Record<string, unknown>) => !!body.error

// What a call took: its time, and of a model's its tokens and its price.
function Took({ row: { event, end } }: { row: Read }) {
  const body = (end ?? { event }).event.body as { duration?: number; usage?: { input?: number; output?: number }; cost?: number }
  if (!end && !body.usage) return <span className="etook" />
  const micros = body.duration ?? (end ? (Date.parse(end.event.time) - Date.parse(event.time)) * 1000 : 0)
  const tokens = (body.usage?.input ?? 0) + (body.usage?.output ?? 0)
  return <span className="etook num muted">{[duration(micros / 1e6), tokens > 0 && `${short(tokens)} tokens`, body.cost && money(String(body.cost / 1e9))]
    .filter(Boolean).join(' · ')}</span>
}

function tone(type: string): string {
  if (/blocked|failed|exceeded|attacked|challenge/.test(type)) return 'tone-bad'
  return /finished|decided|justification/.test(type) ? 'tone-good' : ''
}
