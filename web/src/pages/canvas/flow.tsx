import { Background, Controls, MarkerType, ReactFlow, ReactFlowProvider, useReactFlow, type Edge as FlowEdge } from '@xyflow/react'
import '@xyflow/react/dist/style.css'
import { useEffect, useMemo, useRef } from 'react'
import type { Edge } from '../../api/types'
import { flat } from '../../text/plain'
import { alive, statusAt, type Graph } from './graph'
import { layout } from './layout'
import { Thing, type Shown } from './node'

const types = { thing: Thing }
const many = 120

type Props = { graph: Graph; at: number; only?: Set<string>; hidden: ReadonlySet<string>; selected: string; onSelect: (id: string) => void }

export const Flow = (props: Props) => <ReactFlowProvider><Inner {...props} /></ReactFlowProvider>

function Inner({ graph, at, only, hidden, selected, onSelect }: Props) {
  const flow = useReactFlow()
  const moved = useRef(false)
  const spots = useMemo(() => {
    const nodes = [...graph.nodes.values()].filter((n) => !hidden.has(n.kind))
    const begin = performance.now()
    const places = layout(nodes, [...graph.edges.values()])
    // The browser test reads how long a layout took.
    performance.measure('lyceum-layout', { start: begin, detail: { nodes: nodes.length } })
    return places
  }, [graph, hidden])
  const near = useMemo(() => joined(graph, selected), [graph, selected])
  const nodes = useMemo<Shown[]>(() => {
    const out: Shown[] = []
    for (const node of graph.nodes.values()) {
      const place = spots.get(node.id)
      if (!place || node.seq > at) continue
      const status = statusAt(node, at)
      out.push({
        id: node.id, type: 'thing', position: { x: place.x, y: place.y }, width: place.width, height: place.height, selected: node.id === selected,
        data: { node, status, faint: only !== undefined && !only.has(node.id), fresh: at !== Infinity && at - node.seq < 8, joined: near.has(node.id) },
        ariaLabel: flat(`${node.kind} ${node.label}${status ? `, ${status}` : ''}`), draggable: false, connectable: false,
      })
    }
    return out
  }, [graph, spots, at, only, selected, near])
  const edges = useMemo<FlowEdge[]>(() => {
    const out: FlowEdge[] = []
    for (const edge of graph.edges.values()) {
      if (!spots.has(edge.from) || !spots.has(edge.to) || !alive(edge, at)) continue
      out.push(drawn(edge, graph, selected, only))
    }
    return out
  }, [graph, spots, at, only, selected])
  // The whole is in view until somebody looks at a part of it.
  useEffect(() => {
    if (!moved.current) void flow.fitView({ padding: 0.08, maxZoom: 1 })
  }, [spots, flow])
  useEffect(() => {
    const place = spots.get(selected)
    if (!place) return
    const { zoom } = flow.getViewport()
    void flow.setCenter(place.x + place.width / 2, place.y + place.height / 2, { zoom: Math.max(zoom, 0.6), duration: 300 })
    // A layout that grows meanwhile does not move the view again.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [selected])
  return (
    <div className="flow">
      <ReactFlow nodes={nodes} edges={edges} nodeTypes={types} onlyRenderVisibleElements={nodes.length > many} nodesDraggable={false} nodesConnectable={false}
        edgesFocusable={false} minZoom={0.03} maxZoom={1.6} fitView fitViewOptions={{ padding: 0.08, maxZoom: 1 }} colorMode="system"
        onNodeClick={(_, node) => onSelect(node.id)} onPaneClick={() => onSelect('')} onMoveStart={(event) => { if (event) moved.current = true }}
        onNodesChange={(changes) => { for (const c of changes) if (c.type === 'select' && c.selected && c.id !== selected) onSelect(c.id) }}>
        <Background gap={28} size={1} />
        <Controls showInteractive={false} position="bottom-right" onZoomIn={() => { moved.current = true }} onZoomOut={() => { moved.current = true }}
          onFitView={() => { moved.current = false }} />
      </ReactFlow>
    </div>
  )
}

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

function joined(graph: Graph, id: string): Set<string> {
  const out = new Set<string>()
  if (!id) return out
  for (const edge of graph.edges.values()) {
    if (edge.from === id) out.add(edge.to)
    if (edge.to === id) out.add(edge.from)
  }
  return out
}
