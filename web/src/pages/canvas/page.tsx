import { useMemo, useState } from 'react'
import { useLive } from '../../live/context'
import { go, questLink } from '../../route'
import { Find, matches } from '../../ui/find'
import { Broken, Empty, Loading } from '../../ui/states'
import { Flow } from './flow'
import { belonging, useGraph, type Graph } from './graph'
import { group, narrowed, wordsOf } from './group'
import type { Axis } from './layout'
import { Legend } from './legend'
import { Panel } from './panel'
import { Slider } from './slider'
import './canvas.css'

/** Canvas is the quest as a graph. */
export default function Canvas({ name, selected }: { name: string; selected: string }) {
  const { graph, failure, again } = useGraph(name)
  if (!graph) return failure ? <Broken failure={failure} again={again} /> : <Loading what="the graph" />
  return <Drawn name={name} graph={graph} selected={selected} />
}

const axes: [Axis, string][] = [['derivation', 'By derivation'], ['time', 'By time']]

function Drawn({ name, graph, selected }: { name: string; graph: Graph; selected: string }) {
  const { quest } = useLive()
  const [agent, setAgent] = useState('')
  const [at, setAt] = useState<number | null>(null)
  const [axis, setAxis] = useState<Axis>('derivation')
  const [wanted, setWanted] = useState('')
  const [focus, setFocus] = useState('')
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set())
  const kinds = useMemo(() => countKinds(graph), [graph])
  const all = useMemo(() => group(graph, hidden), [graph, hidden])
  const shown = useMemo(() => (focus ? narrowed(graph, all, focus) : all), [graph, all, focus])
  const only = useMemo(() => (agent ? withOwners(belonging(graph, agent), all.owner) : undefined), [graph, agent, all])
  const found = useMemo(() => matches([...shown.cards.values()], wanted, wordsOf, (c) => c.node.id), [shown, wanted])
  const node = graph.nodes.get(selected)
  const select = (id: string) => go(questLink(name, 'canvas', { node: id }), true)
  const toggle = (kind: string) => {
    const next = new Set(hidden)
    if (!next.delete(kind)) next.add(kind)
    setHidden(next)
  }
  if (graph.nodes.size === 0) return <Empty title="Nothing to draw yet">{quest.data?.running ? 'The graph grows here as the agents work.'
    : 'Start the quest; the graph grows as the agents work.'}</Empty>
  return (
    <div className="page full canvas">
      <h2 className="hidden-label">Canvas</h2>
      <div className="canvas-bar">
        <div className="row" role="group" aria-label="What left to right means">
          {axes.map(([value, label]) => <button key={value} className="button small" aria-pressed={axis === value} onClick={() => setAxis(value)}>
            {label}</button>)}
        </div>
        <Find wanted={wanted} hits={[...(found ?? [])]} onWanted={setWanted} onHit={select} />
        <button className="button small" aria-pressed={focus !== ''} disabled={!focus && !node} title="Only what it rests on, and what rests on it"
          onClick={() => setFocus(focus ? '' : selected)}>Focus</button>
        <select aria-label="Agent" value={agent} onChange={(e) => setAgent(e.target.value)}>
          <option value="">all agents</option>
          {graph.agents.map((a) => <option key={a}>{a}</option>)}
        </select>
        <div className="row kinds" role="group" aria-label="Kinds that are shown">
          {kinds.map(([kind, n]) => <button key={kind} className="button small" aria-pressed={!hidden.has(kind)} onClick={() => toggle(kind)}>{kind}
            <span className="num muted">{n}</span></button>)}
        </div>
        {graph.truncated && <span className="small muted">There is more than can be drawn.</span>}
      </div>
      <div className={node ? 'canvas-body with-panel' : 'canvas-body'}>
        <Flow graph={graph} grouped={shown} axis={axis} at={at ?? Infinity} only={only} found={found} selected={selected} focus={focus} onSelect={select} />
        {node && <Panel quest={name} graph={graph} grouped={all} node={node} at={at ?? Infinity} onGo={select} onClose={() => select('')} />}
      </div>
      <Legend grouped={shown} />
      <Slider graph={graph} at={at} onAt={setAt} />
    </div>
  )
}

// Who has to do with a mark has to do with the card on which it stands.
function withOwners(ids: Set<string>, owner: Map<string, string>): Set<string> {
  return new Set([...ids, ...[...ids].flatMap((id) => owner.get(id) ?? [])])
}

function countKinds(graph: Graph): [string, number][] {
  const kinds = new Map<string, number>()
  for (const node of graph.nodes.values()) kinds.set(node.kind, (kinds.get(node.kind) ?? 0) + 1)
  return [...kinds]
}
