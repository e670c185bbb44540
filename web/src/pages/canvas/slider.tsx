import { useEffect, useMemo, useState } from 'react'
import type { Graph } from './graph'

const step = 180

/** Slider is the time of the graph: it can be drawn as it was after any event. */
export function Slider({ graph, at, onAt }: { graph: Graph; at: number | null; onAt: (seq: number | null) => void }) {
  const [playing, setPlaying] = useState(false)
  // Only the moments at which something changed are worth stopping at.
  const moments = useMemo(() => {
    const all = new Set<number>()
    for (const n of graph.nodes.values()) { all.add(n.seq); for (const c of n.changes) all.add(c.seq) }
    for (const e of graph.edges.values()) all.add(e.seq)
    return [...all].sort((a, b) => a - b)
  }, [graph])
  useEffect(() => {
    if (!playing) return
    // However long the quest, its growth is told in half a minute.
    const stride = Math.max(1, Math.ceil(moments.length / 160))
    const timer = window.setInterval(() => {
      const now = moments.findIndex((m) => m > (at ?? 0))
      const next = now < 0 ? undefined : moments[Math.min(moments.length - 1, now + stride - 1)]
      if (next === undefined || next >= graph.head) { onAt(null); setPlaying(false) } else onAt(next)
    }, step)
    return () => window.clearInterval(timer)
  }, [playing, at, moments, graph.head, onAt])
  const play = () => {
    if (!playing && at === null) onAt(moments[0] ?? 0)
    setPlaying(!playing)
  }
  return (
    <div className="slider">
      <button className="button small" onClick={play}>{playing ? 'Hold' : 'Replay'}</button>
      <input type="range" min={0} max={graph.head} value={at ?? graph.head} aria-label="Event up to which the graph is drawn"
        aria-valuetext={at === null ? 'now' : `event ${at}`}
        onChange={(e) => { setPlaying(false); const v = Number(e.target.value); onAt(v >= graph.head ? null : v) }} />
      <span className="small num">{at === null ? 'now' : `event ${at} of ${graph.head}`}</span>
    </div>
  )
}
