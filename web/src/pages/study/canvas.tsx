import { useEffect, useMemo, useRef, useState } from 'react'
import { query as ask, questPath } from '../../api/client'
import type { BranchNode, Branches, EventNode, NodeTraces, StageNode } from '../../api/types'
import { useQuestResource } from '../../live/context'
import { go, questLink } from '../../route'
import { Find, matches } from '../../ui/find'
import { useMedia } from '../../ui/media'
import { Empty, Ready } from '../../ui/states'
import '../canvas/canvas.css'
import { BranchCells, branchWide, BranchTop, measures } from './branchcells'
import { EventCells, eventHigh, eventWide } from './eventcells'
import { chips, lanes, lineage } from './lanes'
import { Panel } from './panel'
import { Sheet, type Shower } from './sheet'
import { StageCells, stageHigh, StageTop, stageWide } from './stagecells'
import './study.css'

const views = ['branches', 'events', 'stages'] as const
type Kind = typeof views[number]
const labels: Record<Kind, string> = { branches: 'Branches', events: 'Artifacts', stages: 'Stages' }

// All that a study can come to; so many branches begin folded.
const stages = ['scout', 'baseline', 'idea', 'experiment', 'analysis-campaign', 'write', 'finalize']
const many = 40

/** StudyCanvas is a study as a picture: its lines of work with their figures, what came of them and why, and the stages. */
export default function StudyCanvas({ name, query }: { name: string; query: URLSearchParams }) {
  const asked = query.get('view') ?? ''
  const kind: Kind = views.find((v) => v === asked) ?? 'branches'
  const branches = useQuestResource<Branches>(questPath(name, '/branches'))
  const path = `/node-traces${ask({ view: kind === 'events' ? 'event' : 'stage' })}`
  const traces = useQuestResource<NodeTraces>(kind === 'branches' ? null : questPath(name, path))
  return (
    <div className="page full canvas study-canvas">
      <h2 className="hidden-label">Canvas</h2>
      <Ready of={branches} what="the lines of work">{(b) => (b.nodes.length === 0
        ? <Empty title="Nothing to draw yet">The picture grows here as the study goes on.</Empty>
        : kind === 'branches' ? <Drawn name={name} kind={kind} branches={b} chosen={query.get('node') ?? ''} />
          : <Ready of={traces} what="what came of the work">{(t) => <Drawn name={name} kind={kind} branches={b} traces={t}
            chosen={query.get('node') ?? ''} />}</Ready>)}</Ready>
    </div>
  )
}

type Props = { name: string; kind: Kind; branches: Branches; traces?: NodeTraces; chosen: string }

const wordsOfBranch = (b: BranchNode) => [b.ref, b.label, b.subject, b.latest_summary, b.idea_id, b.run_id].join(' ')
const wordsOfEvent = (e: EventNode) => [e.title, e.kind, e.branch, e.stage, e.summary, e.artifact?.id].join(' ')
const wordsOfStage = (s: StageNode) => `${s.title} ${s.summary ?? ''}`

function Drawn({ name, kind, branches, traces, chosen }: Props) {
  const narrow = useMedia('(max-width: 640px)')
  const little = useMedia('(max-width: 1500px)')
  const sheet = useRef<Shower>(null)
  const [folded, setFolded] = useState<ReadonlySet<string>>(() => foldedAtFirst(branches.nodes))
  const [wanted, setWanted] = useState('')
  const [focus, setFocus] = useState('')
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set())
  const only = useMemo(() => (focus ? lineage(branches.nodes, focus) : undefined), [branches, focus])
  const found = useMemo(() => matches(branches.nodes, wanted, wordsOfBranch, (b) => b.ref), [branches, wanted])
  const foundEvents = useMemo(() => matches(traces?.events ?? [], wanted, wordsOfEvent, (e) => e.selection_ref), [traces, wanted])
  const foundStages = useMemo(() => matches(traces?.stages ?? [], wanted, wordsOfStage, (s) => s.selection_ref), [traces, wanted])
  const events = useMemo(() => (traces?.events ?? []).filter((e) => !hidden.has(e.kind)), [traces, hidden])
  // What is searched for is never folded away.
  const open = useMemo(() => {
    if (!wanted) return folded
    const refs = new Set([...(found ?? []), ...(traces?.events ?? []).filter((e) => foundEvents?.has(e.selection_ref)).map((e) => e.branch)])
    const way = new Set([...refs].flatMap((r) => [...lineage(branches.nodes, r)]))
    return new Set([...folded].filter((f) => !way.has(f)))
  }, [wanted, folded, found, foundEvents, traces, branches])
  const rows = useMemo(() => lanes(branches.nodes, open, only), [branches, open, only])
  const placed = useMemo(() => chips(events, traces?.edges ?? [], rows), [events, traces, rows])
  const measure = useMemo(() => measures(branches.nodes)[0], [branches])
  const head = narrow ? 150 : little ? 230 : 290
  const high = kind === 'branches' ? 56 : kind === 'events' ? eventHigh : stageHigh
  const wide = kind === 'branches' ? branchWide : kind === 'events' ? Math.max(1, placed.columns) * eventWide + 20 : stages.length * stageWide
  const select = (id: string) => go(questLink(name, 'canvas', { view: kind, node: id }), true)
  // What is chosen is in view, also once the panel has taken its room.
  useEffect(() => {
    const chip = placed.chips.find((c) => c.id === chosen)
    const stage = traces?.stages.find((s) => s.selection_ref === chosen)
    const lane = rows.find((l) => l.ref === (stage?.branch ?? chosen))
    if (chip) sheet.current?.show(chip.column * eventWide, chip.row * eventHigh, eventWide)
    else if (lane) sheet.current?.show(stage ? stages.indexOf(stage.stage) * stageWide : 0, lane.row * high, stage ? stageWide : 0)
    // What grows meanwhile does not move the view again.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [chosen, kind, narrow])
  const branchOf = (id: string) => (branches.nodes.some((b) => b.ref === id) ? id
    : traces?.events.find((e) => e.selection_ref === id)?.branch ?? traces?.stages.find((s) => s.selection_ref === id)?.branch ?? '')
  const fold = (ref: string) => setFolded((now) => { const next = new Set(now); if (!next.delete(ref)) next.add(ref); return next })
  const hits = kind === 'events' ? placed.chips.map((c) => c.id).filter((id) => foundEvents?.has(id))
    : rows.map((l) => l.ref).filter((ref) => found?.has(ref))
  const faint = (ref: string) => found !== undefined && kind === 'branches' && !found.has(ref)
  return (
    <>
      <div className="canvas-bar">
        <div className="row" role="group" aria-label="What is drawn">
          {views.map((v) => <button key={v} className="button small" aria-pressed={v === kind} onClick={() => go(questLink(name, 'canvas', { view: v }), true)}>
            {labels[v]}</button>)}
        </div>
        <Find wanted={wanted} hits={hits} onWanted={setWanted} onHit={select} />
        <div className="row">
          <button className="button small" onClick={() => setFolded(new Set(branches.nodes.map((b) => b.ref).filter((r) => r !== 'main')))}>Fold</button>
          <button className="button small" onClick={() => setFolded(new Set())}>Unfold</button>
          <button className="button small" aria-pressed={focus !== ''} disabled={!focus && !branchOf(chosen)}
            onClick={() => setFocus(focus ? '' : branchOf(chosen))}>Focus</button>
        </div>
        {kind === 'events' && traces && <Kinds events={traces.events} hidden={hidden} onHidden={setHidden} />}
        {traces?.truncated && <span className="small muted">There is more than can be drawn.</span>}
      </div>
      <div className={chosen ? 'canvas-body with-panel' : 'canvas-body'}>
        <Sheet ref={sheet} lanes={rows} label={`${labels[kind]} of ${name}`} high={high} wide={wide} head={head} chosen={branchOf(chosen)} faint={faint}
          top={kind === 'stages' ? <StageTop stages={stages} /> : kind === 'branches' ? <BranchTop measure={measure} /> : undefined}
          onFold={fold} onChoose={(ref) => select(ref === chosen ? '' : ref)}
          cells={(view) => (kind === 'branches' ? <BranchCells lanes={rows} high={high} view={view} measure={measure} faint={faint} onChoose={select} />
            : kind === 'events' ? <EventCells chips={placed.chips} edges={traces?.edges ?? []} view={view} chosen={chosen} found={foundEvents}
              onChoose={select} />
              : <StageCells nodes={traces?.stages ?? []} edges={traces?.edges ?? []} stages={stages} lanes={rows} view={view} chosen={chosen}
                found={foundStages} onChoose={select} />)} />
        {chosen && <Panel key={chosen} quest={name} branches={branches} traces={traces} chosen={chosen} onGo={select} onClose={() => select('')} />}
      </div>
    </>
  )
}

// Of many branches those that are not on the way to where the study is begin folded.
function foldedAtFirst(nodes: BranchNode[]): Set<string> {
  if (nodes.length <= many) return new Set()
  const here = nodes.find((n) => n.current)?.ref ?? ''
  const way = lineage(nodes, here)
  return new Set(nodes.filter((n) => n.branch_kind !== 'main' && !way.has(n.ref)).map((n) => n.ref))
}

function Kinds({ events, hidden, onHidden }: { events: EventNode[]; hidden: ReadonlySet<string>; onHidden: (to: ReadonlySet<string>) => void }) {
  const kinds = useMemo(() => {
    const out = new Map<string, number>()
    for (const e of events) out.set(e.kind, (out.get(e.kind) ?? 0) + 1)
    return [...out]
  }, [events])
  const toggle = (kind: string) => {
    const next = new Set(hidden)
    if (!next.delete(kind)) next.add(kind)
    onHidden(next)
  }
  return (
    <div className="row kinds" role="group" aria-label="Kinds that are shown">
      {kinds.map(([kind, n]) => <button key={kind} className="button small" aria-pressed={!hidden.has(kind)} onClick={() => toggle(kind)}>{kind}
        <span className="num muted">{n}</span></button>)}
    </div>
  )
}
