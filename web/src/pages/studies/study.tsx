import { useCallback, useMemo, useState, type ReactNode } from 'react'
import { controlStudy, studyCSV } from '../../api/client'
import { endJob, packStudy, why } from '../../api/jobs'
import type { StudyOutline, StudyRow, StudyView } from '../../api/types'
import { fetchCrate, useJob } from '../../api/usejob'
import { link, questLink } from '../../route'
import { clip, visible, Words } from '../../text/plain'
import { SideBySide } from '../../ui/beside'
import { Bars } from '../../ui/chart'
import { Meter } from '../../ui/meter'
import { Progress } from '../../ui/progress'
import { Asked, Badge, count, duration, money, several, short } from '../../ui/show'
import { grouped, isOver, standing, type By, type Group } from './table'

const tones: Record<string, string> = { running: 'live', finished: 'good', failed: 'bad', refused: 'bad', budget: 'warn', stopped: 'warn', paused: 'warn',
  'no-agreement': 'warn', waiting: 'asks', open: '' }

/** StateBadge says how a study stands. */
export const StateBadge = ({ study }: { study: StudyOutline }) => <Badge tone={tones[study.state]}>{study.state}</Badge>

/** Study is all of one: its answers, what they cost, and its cells. */
const columns = ['quest', 'society', 'model', 'seed', 'state', 'answer', 'same', 'agreement within', 'cost', 'time']

export function Study({ study, again }: { study: StudyView; again: () => void }) {
  const [by, setBy] = useState<By>(study.models.length > 1 || study.societies.length === 1 ? 'model' : 'society')
  const [picked, setPicked] = useState<ReadonlySet<number>>(new Set())
  const chosen = study.rows.filter((r) => picked.has(r.cell))
  const groups = useMemo(() => grouped(study, by), [study, by])
  const pick = (cell: number, on: boolean) => setPicked((was) => { const now = new Set(was); if (on) now.add(cell); else now.delete(cell); return now })
  return (
    <>
      <Head study={study} again={again} />
      <p className="study-question">{visible(clip(study.question, 2000))}</p>
      {study.trouble && <p className="note bad" role="alert"><Words>{study.trouble}</Words></p>}
      <div className="card study-meters">
        <Meter label="cost" used={Number(study.spent_usd)} limit={Number(study.budget_usd)} show={(n) => money(String(n))}
          said={`${study.rows.some((r) => r.unpriced_calls > 0) ? 'at least ' : ''}${money(study.spent_usd)}`} />
        <Meter label="quests over" used={study.observed} limit={study.cells} show={count} good />
        <p className="small muted">Each quest may cost {money(study.share_usd)}{study.strict ? ', calls under way included' : ''};{' '}
          {several(study.parallel, 'quest')} at once.</p>
      </div>
      <Answers study={study} />
      <section aria-labelledby="study-groups">
        <div className="row between"><h2 id="study-groups">Side by side</h2>
          <select aria-label="Put cells together" value={by} onChange={(e) => setBy(e.target.value as By)}>
            <option value="model">by model</option><option value="society">by society</option><option value="seed">by seed</option></select></div>
        <SideBySide label={`Side by side, by ${by}`} things={groups.map((g) => ({ key: g.name, head: visible(g.name) }))} rows={groupRows(groups)} />
      </section>
      <div className="columns">
        <Bars title={`Cost and time of a quest, by ${by}`} rows={groups.map((g) => ({ name: g.name, values: [g.cost / g.cells, g.seconds ?? 0] }))}
          kinds={[{ name: 'dollars, mean', show: (v) => money(String(v)), alone: true }, { name: 'time, median', show: duration, alone: true }]} />
      </div>
      <section aria-labelledby="study-cells">
        <div className="row between"><h2 id="study-cells">Quests</h2>
          <div className="row">
            {chosen.length > 0 && <button className="button small quiet" onClick={() => setPicked(new Set())}>Clear {chosen.length}</button>}
            {chosen.length === 2 && <a className="button small" href={link(['compare'], { a: chosen[0]?.quest, b: chosen[1]?.quest })}>Step by step</a>}
            {chosen.length === 0 && <span className="small muted">Tick quests to set them side by side; two can be compared step by step.</span>}
          </div></div>
        {chosen.length > 1 && <SideBySide label="Quests side by side" rows={cellRows(chosen)}
          things={chosen.map((r) => ({ key: r.quest, head: <Quest row={r} /> }))} />}
        <Cells study={study} picked={picked} pick={pick} />
      </section>
    </>
  )
}

function Head({ study, again }: { study: StudyView; again: () => void }) {
  const [failed, setFailed] = useState('')
  const [busy, setBusy] = useState(false)
  const [pack, packNow] = useJob(useCallback(() => packStudy(study.study), [study.study]), fetchCrate)
  const order = async (action: 'start' | 'stop') => {
    setBusy(true)
    setFailed('')
    try { await controlStudy(study.study, action) } catch (error) { setFailed(why(error)) }
    setBusy(false)
    again()
  }
  return (
    <>
      <div className="head">
        <div className="row"><h1>{study.study}</h1><StateBadge study={study} /></div>
        <div className="row">
          {study.state === 'open' && <button className="button first" disabled={busy} onClick={() => void order('start')}>
            {study.events > 1 && study.observed > 0 ? 'Go on' : 'Start'}</button>}
          {study.state === 'running' && study.held_here && <button className="button" disabled={busy} onClick={() => void order('stop')}>Stop</button>}
          <a className="button" href={studyCSV(study.study)} download={`${study.study}.csv`}>CSV</a>
          <button className="button" disabled={pack.state === 'busy'} onClick={packNow}>Crate</button>
          <a className="button" href={link(['studies', 'new'], { question: study.question })}>Another like it</a>
        </div>
      </div>
      {pack.state === 'busy' && <p className="note" role="status">
        <Progress what="Packing" job={pack.job} onStop={() => void endJob(pack.job.id).catch(() => {})} /></p>}
      {pack.state === 'failed' && <p className="note bad" role="alert"><Words>{pack.why}</Words></p>}
      {failed && <p className="note bad" role="alert"><Words>{failed}</Words></p>}
    </>
  )
}

// The answers, the most frequent first, and how many quests say each.
function Answers({ study }: { study: StudyView }) {
  if (study.answers.length === 0) return <p className="muted">{study.state === 'finished' ? 'No quest has an answer.' : 'No quest has its answer yet.'}</p>
  return (
    <section className="card" aria-labelledby="study-answers">
      <h2 id="study-answers" className="small muted">
        {several(study.answered, 'quest')} of {study.cells} answered
        {study.answers.length > 1 ? `, with ${study.answers.length} answers` : study.answered > 1 ? ', all the same' : ''}
      </h2>
      <ol className="study-answers">{study.answers.map((a) => <li key={a.answer}>
        <span className="study-answer">{visible(clip(a.answer, 300))}</span>
        <Meter label="quests that say so" used={a.cells.length} limit={study.answered} show={count} good />
      </li>)}</ol>
    </section>
  )
}

const groupRows = (groups: Group[]): [string, ReactNode[]][] => [
  ['answers', groups.map((g) => (g.answers.length === 0 ? '–' : <ul className="plain">{g.answers.map((a) =>
    <li key={a.answer} className={a.first ? 'strong' : ''}>
    {visible(clip(a.answer, 120))} <span className="muted num">{a.count} of {g.cells}</span></li>)}</ul>))],
  ['cost', groups.map((g) => <span className="num">{money(String(g.cost))}</span>)],
  ['time, median', groups.map((g) => <span className="num">{g.seconds === undefined ? '–' : duration(g.seconds)}</span>)],
  ['tokens', groups.map((g) => <span className="num">{short(g.tokens)}</span>)],
]

const cellRows = (rows: StudyRow[]): [string, ReactNode[]][] => [
  ['society', rows.map((r) => visible(r.society))], ['model', rows.map((r) => visible(r.model))], ['seed', rows.map((r) => r.seed)],
  ['state', rows.map((r) => <State row={r} />)], ['answer', rows.map((r) => visible(r.answer || r.reason || '–'))],
  ['sure', rows.map((r) => (r.sure ? <Badge>{r.sure}</Badge> : '–'))], ['agreement', rows.map((r) => visible(r.agree || '–'))],
  ['cost', rows.map((r) => <span className="num">{costOf(r)}</span>)], ['time', rows.map((r) => <span className="num">{timeOf(r)}</span>)],
  ['turns', rows.map((r) => <span className="num">{short(r.turns)}</span>)], ['tokens', rows.map((r) => <span className="num">{short(r.tokens)}</span>)],
]

const costOf = (r: StudyRow) => (r.state === 'waiting' ? '–' : `${r.unpriced_calls > 0 ? 'at least ' : ''}${money(r.cost_usd)}`)
const timeOf = (r: StudyRow) => (r.state === 'waiting' ? '–' : duration(r.seconds))

const Quest = ({ row }: { row: StudyRow }) => (row.standing ? <a href={questLink(row.quest)}>{row.quest}</a> : <span className="muted">{row.quest}</span>)

const State = ({ row }: { row: StudyRow }) => <><Badge tone={tones[standing(row)]}>{standing(row)}</Badge> <Asked open={row.open_questions ?? 0} /></>

function Cells({ study, picked, pick }: { study: StudyView; picked: ReadonlySet<number>; pick: (cell: number, on: boolean) => void }) {
  return (
    <div className="card flush scroll-x study-cells" tabIndex={0} role="region" aria-label="Quests of the study">
      <table>
        <thead><tr>{columns.map((h) => <th key={h} scope="col">{h}</th>)}</tr></thead>
        <tbody>{study.rows.map((r) => (
          <tr key={r.cell} className={picked.has(r.cell) ? 'picked' : ''}>
            <th scope="row"><span className="row"><input type="checkbox" checked={picked.has(r.cell)} onChange={(e) => pick(r.cell, e.target.checked)}
              aria-label={`Set ${r.quest} beside others`} /><Quest row={r} /></span></th>
            <td>{visible(r.society)}</td><td>{visible(r.model)}</td><td className="num">{r.seed}</td><td><State row={r} /></td>
            <td className={isOver(r) && r.answer ? 'answer strong' : 'answer muted'}>{visible(clip(r.answer || r.reason || '–', 160))}</td>
            <td className="num">{r.group > 0 ? `${r.same} of ${study.answered}` : '–'}</td>
            <td>{visible(clip(r.agree || '–', 90))}</td>
            <td className="num">{costOf(r)}</td><td className="num">{timeOf(r)}</td>
          </tr>))}</tbody>
      </table>
    </div>
  )
}
