import { useMemo, useState } from 'react'
import { questPath } from '../../api/client'
import type { Artifacts } from '../../api/types'
import { useQuestResource } from '../../live/context'
import { questLink } from '../../route'
import { flat } from '../../text/plain'
import { Plot } from '../../ui/plot'
import { several } from '../../ui/show'
import { series } from './results'
import './study.css'

/** Results are the figures of a study against its baseline; nothing until there is one. */
export default function Results({ quest }: { quest: string }) {
  const artifacts = useQuestResource<Artifacts>(questPath(quest, '/artifacts'))
  const all = useMemo(() => series(artifacts.data?.recorded ?? [], (id) => questLink(quest, 'records', { artifact: id })), [artifacts.data, quest])
  const [at, setAt] = useState(0)
  const shown = all[at] ?? all[0]
  if (!shown) return null
  return (
    <section className="card stack tight results" aria-labelledby="results">
      <div className="row between"><h2 id="results">Results</h2>
        {all.length > 1 && <select aria-label="Metric" value={at} onChange={(e) => setAt(Number(e.target.value))}>
          {all.map((s, i) => <option key={i} value={i}>{flat(s.name)}{all.some((o) => o !== s && o.name === s.name) && ` on ${s.data.slice(0, 8)}`},{' '}
            {several(s.points.length, 'run')}</option>)}</select>}</div>
      <Plot label={shown.name} unit={shown.unit} better={shown.better} points={shown.points} level={shown.level} />
    </section>
  )
}
