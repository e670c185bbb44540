import { useRef, useState } from 'react'
import { Failure, get, questPath } from '../../api/client'
import { useSerial } from '../../api/serial'
import type { Canvas, Edge, Node } from '../../api/types'
import { useLive } from '../../live/context'

export type Graph = { nodes: Map<string, Node>; edges: Map<string, Edge>; agents: string[]; head: number; truncated: boolean }

export function merge(graph: Graph | undefined, part: Canvas): Graph {
  const nodes = new Map(graph?.nodes)
  const edges = new Map(graph?.edges)
  for (const node of part.nodes) nodes.set(node.id, node)
  for (const edge of part.edges) edges.set(edge.id, edge)
  return { nodes, edges, agents: part.agents, head: part.head, truncated: part.truncated }
}

/** useGraph reads the graph once, and then only what is new or changed. */
export function useGraph(name: string): { graph?: Graph; failure?: Failure; again: () => void } {
  const { snapshot } = useLive()
  const [graph, setGraph] = useState<Graph>()
  const [failure, setFailure] = useState<Failure>()
  const [round, setRound] = useState(0)
  const held = useRef<Graph>(undefined)
  useSerial(async (gone) => {
    try {
      const part = await get<Canvas>(questPath(name, `/canvas${held.current ? `?after=${held.current.head}` : ''}`), gone)
      const changed = !held.current || part.nodes.length > 0 || part.edges.length > 0
      held.current = changed ? merge(held.current, part) : { ...(held.current as Graph), head: part.head }
      setGraph(held.current)
      setFailure(undefined)
    } catch (error) {
      if (!gone.aborted) setFailure(error instanceof Failure ? error : new Failure(0, '', String(error)))
    }
  }, name, snapshot.version + round)
  return { graph, failure, again: () => setRound((n) => n + 1) }
}

/** statusAt is what a node was after an event: its past is in the same answer. */
export function statusAt(node: Node, seq: number): string | undefined {
  if (seq >= node.last) return node.status
  let status: string | undefined
  for (const change of node.changes) if (change.seq <= seq) status = change.status
  return status
}

export const alive = (edge: Edge, seq: number) => edge.seq <= seq && (edge.until === undefined || edge.until > seq)

/** belonging are the nodes of an agent and those that they are joined with. */
export function belonging(graph: Graph, agent: string): Set<string> {
  const own = new Set([...graph.nodes.values()].filter((n) => n.agent === agent || n.id === `agent:${agent}`).map((n) => n.id))
  const near = new Set(own)
  for (const edge of graph.edges.values()) {
    if (own.has(edge.from)) near.add(edge.to)
    if (own.has(edge.to)) near.add(edge.from)
  }
  return near
}
