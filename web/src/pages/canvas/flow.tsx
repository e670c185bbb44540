import { Background, Controls, MarkerType, MiniMap, ReactFlow, ReactFlowProvider, useReactFlow, useStore, useStoreApi, ViewportPortal,
  type Edge as FlowEdge } from '@xyflow/react'
import '@xyflow/react/dist/style.css'
import { useEffect, useMemo, useRef, type CSSProperties, type MouseEvent } from 'react'
import type { Edge } from '../../api/types'
import { flat, visible } from '../../text/plain'
import { useMedia } from '../../ui/media'
import { several } from '../../ui/show'
import { alive, statusAt, type Graph } from './graph'
import { votesAt, type Grouped } from './group'
import { layout, type Axis, type Layout } from './layout'
import { levelOf, outside } from './levels'
import { Thing, toneOfNode, type Shown } from './node'

const types = { thing: Thing }
const many = 120
const whole = { padding: 0.06, maxZoom: 1 }

type Props = {
  graph: Graph; grouped: Grouped; axis: Axis; at: number; only?: Set<string>; found?: Set<string>; selected: string; focus: string
  onSelect: (id: string) => void
}

export const Flow = (props: Props) => <ReactFlowProvider><Inner {...props} /></ReactFlowProvider>

function Inner({ graph, grouped, axis, at, only, found, selected, focus, onSelect }: Props) {
  const spread = useLayout(grouped, axis)
  const chosen = grouped.owner.get(selected) ?? selected
  const nodes = useNodes(graph, grouped, spread, { at, only, found, chosen })
  const edges = useEdges(graph, grouped, spread, { at, only, chosen })
  const moved = useView(spread, chosen, `${axis} ${focus}`)
  const roomy = useMedia('(min-width: 901px)')
  const zoom = useStore((s) => Math.round(s.transform[2] * 50) / 50)
  const click = (event: MouseEvent, id: string) => onSelect((event.target as Element).closest<HTMLElement>('[data-mark]')?.dataset.mark ?? id)
  return (
    <div className={`flow level-${levelOf(zoom)}`} style={{ '--zoom': Math.max(zoom, 0.02) } as CSSProperties}>
      <ReactFlow nodes={nodes} edges={edges} nodeTypes={types} onlyRenderVisibleElements={nodes.length > many} nodesDraggable={false} nodesConnectable={false}
        edgesFocusable={false} minZoom={0.03} maxZoom={1.6} fitView fitViewOptions={whole} colorMode="system"
        onNodeClick={(event, node) => click(event, node.id)} onPaneClick={() => onSelect('')} onMoveStart={(event) => { if (event) moved.current = true }}
        onNodesChange={(changes) => { for (const c of changes) if (c.type === 'select' && c.selected && c.id !== chosen) onSelect(c.id) }}>
        <Background gap={28} size={1} />
        <Ground spread={spread} />
        <Controls showInteractive={false} position="bottom-left" onZoomIn={() => { moved.current = true }} onZoomOut={() => { moved.current = true }}
          onFitView={() => { moved.current = false }} fitViewOptions={whole} />
        {roomy && <MiniMap<Shown> position="bottom-right" pannable zoomable ariaLabel="The whole graph in small" nodeBorderRadius={6}
          nodeClassName={(n) => `${toneOfNode(n.data.node, n.data.status)} ${n.data.found ? 'found' : ''} ${n.selected ? 'selected' : ''}`} />}
      </ReactFlow>
    </div>
  )
}

function useLayout(grouped: Grouped, axis: Axis): Layout {
  return useMemo(() => {
    const begin = performance.now()
    const spread = layout([...grouped.cards.values()], grouped.edges, grouped.agents, axis)
    // The browser test reads how long a layout took.
    performance.measure('lyceum-layout', { start: begin, detail: { nodes: spread.places.size } })
    return spread
  }, [grouped, axis])
}

// The whole is in view until somebody looks at a part of it; what grows within the view leaves the zoom as it is.
function useView({ places, bands }: Layout, chosen: string, drawnAs: string) {
  const flow = useReactFlow()
  const store = useStoreApi()
  const moved = useRef(false)
  const size = useStore((s) => `${s.width} ${s.height}`)
  useEffect(() => {
    const { width, height, transform } = store.getState()
    if (!moved.current && outside([...places.values(), ...bands], transform, width, height)) void flow.fitView(whole)
  }, [places, bands, flow, store])
  const first = useRef(true)
  useEffect(() => {
    if (first.current) { first.current = false; return }
    moved.current = false
    void flow.fitView(whole)
  }, [drawnAs, flow])
  useEffect(() => {
    const place = places.get(chosen)
    if (!place) return
    moved.current = true
    const { zoom } = flow.getViewport()
    void flow.setCenter(place.x + place.width / 2, place.y + place.height / 2, { zoom: Math.max(zoom, 0.6), duration: 300 })
    // A layout that grows meanwhile does not move the view again; a panel that takes its room does.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [chosen, size])
  return moved
}

type Look = { at: number; only?: Set<string>; found?: Set<string>; chosen: string }

function useNodes(graph: Graph, grouped: Grouped, { places }: Layout, { at, only, found, chosen }: Look): Shown[] {
  const near = useMemo(() => joined(grouped, chosen), [grouped, chosen])
  return useMemo(() => {
    const out: Shown[] = []
    for (const [id, place] of places) {
      const node = graph.nodes.get(id)
      if (!node || node.seq > at) continue
      const card = grouped.cards.get(id)
      const marks = card?.marks.filter((m) => m.seq <= at) ?? []
      const status = statusAt(node, at)
      const votes = card ? votesAt(card, at).length : 0
      out.push({
        id, type: 'thing', position: { x: place.x, y: place.y }, width: place.width, height: place.height, selected: id === chosen,
        data: {
          node, marks, votes, status, joined: near.has(id), found: found?.has(id) ?? false, fresh: at !== Infinity && at - node.seq < 8,
          faint: (only !== undefined && !only.has(id)) || (found !== undefined && !found.has(id)),
        },
        ariaLabel: flat(`${node.kind} ${node.label}${status ? `, ${status}` : ''}${marks.length ? `, ${several(marks.length, marks[0]?.kind ?? '')}` : ''}`),
        draggable: false, connectable: false,
      })
    }
    return out
  }, [graph, grouped, places, at, only, found, chosen, near])
}

// Who wrote, reviewed and voted stands on the cards. Lines to agents are drawn for what is selected alone.
function useEdges(graph: Graph, grouped: Grouped, { places }: Layout, { at, only, chosen }: Look): FlowEdge[] {
  return useMemo(() => {
    const lines = chosen ? grouped.lines.filter((e) => e.from === chosen || e.to === chosen) : []
    return [...grouped.edges, ...lines].filter((e) => places.has(e.from) && places.has(e.to) && alive(e, at)).map((e) => drawn(e, graph, chosen, only))
  }, [graph, grouped, places, at, only, chosen])
}

// Ground is what lies under the cards: the bands of those that say the same, and when columns begin.
function Ground({ spread: { bands, ticks, heading } }: { spread: Layout }) {
  const most = { '--most': `${heading * 0.66}px` } as CSSProperties
  return (
    <ViewportPortal>
      {bands.map((b) => (
        <div key={b.name} className="band" style={{ ...most, transform: `translate(${b.x}px, ${b.y}px)`, width: b.width, height: b.height }}>
          <span className="band-name">{visible(b.name)} <span className="muted">{several(b.cards, 'paper')}</span></span>
        </div>
      ))}
      {ticks.map((t) => <time key={t.x} className="tick" dateTime={t.time} style={{ ...most, transform: `translate(${t.x}px, ${-heading}px)` }}>
        {clockOf(t.time)}</time>)}
    </ViewportPortal>
  )
}

const clockOf = (time: string) => new Date(time).toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit' })

// Drawn as they were laid out, from the older to the newer; the arrow shows which way it is meant.
function drawn(edge: Edge, graph: Graph, selected: string, only?: Set<string>): FlowEdge {
  const from = graph.nodes.get(edge.from)
  const to = graph.nodes.get(edge.to)
  const turned = (from?.seq ?? 0) > (to?.seq ?? 0)
  const touched = edge.from === selected || edge.to === selected
  const faint = only !== undefined && !(only.has(edge.from) && only.has(edge.to))
  const tip = { type: MarkerType.ArrowClosed, width: 14, height: 14 }
  return {
    id: edge.id, source: turned ? edge.to : edge.from, target: turned ? edge.from : edge.to,
    className: `edge-${edge.kind} ${touched ? 'touched' : ''} ${faint ? 'faint' : ''}`, label: touched ? edge.kind : undefined,
    markerStart: turned ? tip : undefined, markerEnd: turned ? undefined : tip, focusable: false,
  }
}

function joined(grouped: Grouped, id: string): Set<string> {
  const out = new Set<string>()
  if (!id) return out
  for (const edge of [...grouped.edges, ...grouped.lines]) {
    if (edge.from === id) out.add(edge.to)
    if (edge.to === id) out.add(edge.from)
  }
  return out
}
