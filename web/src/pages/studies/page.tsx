import { useEffect, useState } from 'react'
import { studyPath } from '../../api/client'
import { useResource } from '../../api/resource'
import type { Options, Studies as All, StudyOutline, StudyView } from '../../api/types'
import { link } from '../../route'
import { clip, visible } from '../../text/plain'
import { Meter } from '../../ui/meter'
import { money, several, When } from '../../ui/show'
import { Empty, Ready } from '../../ui/states'
import { StudyForm } from './form'
import { StateBadge, Study } from './study'
import '../quests/quests.css'
import './studies.css'

/** Studies are questions that were put to several models, seeds and societies. */
export default function Studies({ name, query }: { name?: string; query: URLSearchParams }) {
  if (name === undefined) return <List />
  if (name === 'new' && !query.has('study')) return <New question={query.get('question') ?? ''} />
  return <One key={name} name={name} />
}

/** useRounds counts on while somebody looks: nothing streams here. */
function useRounds(every: number): number {
  const [round, setRound] = useState(0)
  useEffect(() => {
    const timer = window.setInterval(() => document.visibilityState === 'visible' && setRound((n) => n + 1), every)
    return () => window.clearInterval(timer)
  }, [every])
  return round
}

function List() {
  useEffect(() => { document.title = 'Studies · Lyceum' }, [])
  const studies = useResource<All>('/studies', useRounds(3000))
  const some = (studies.data?.studies.length ?? 0) > 0
  return (
    <div className="page takes">
      <div className="head"><h1>Studies</h1>{some && <a className="button first" href="#/studies/new">New study</a>}</div>
      <Ready of={studies} what="the studies">{({ studies: all }) => all.length === 0
        ? <Empty title="No studies yet" action={<a className="button first" href="#/studies/new">New study</a>}>
          A study puts one question to several models, seeds and societies, within one budget, and sets what came of each side by side.</Empty>
        : <ul className="studies">
          {[...all].sort((a, b) => b.updated.localeCompare(a.updated)).map((s) => <li key={s.study}><Card study={s} /></li>)}</ul>}</Ready>
    </div>
  )
}

// A study may be called new, and the form is there already.
const studyLink = (name: string) => link(['studies', name], name === 'new' ? { study: 1 } : {})

function Card({ study }: { study: StudyOutline }) {
  const [first] = study.answers
  return (
    <div className="card quest-card study-card">
      <div className="name">
        <div className="row"><a href={studyLink(study.study)}>{study.study}</a><StateBadge study={study} /></div>
        <span className="muted small clip">{visible(clip(study.question, 160))}</span>
      </div>
      <dl className="quest-cells">
        <div className="cell answer"><dt>most say</dt><dd className="num">{first
          ? <><span className="strong">{visible(clip(first.answer, 90))}</span>{' '}
            <span className="muted">{first.cells.length} of {study.answered}</span></> : '–'}</dd></div>
        <div className="cell"><dt>quests over</dt><dd className="num">{study.observed} of {study.cells}</dd></div>
        <div className="cell"><dt>models</dt><dd>{visible(clip(study.models.join(', '), 90))}</dd></div>
        <div className="cell"><dt>societies</dt><dd>{visible(clip(study.societies.join(', '), 90))}</dd></div>
        <div className="cell cost"><dt>cost</dt><dd className="num"><Meter label="cost" used={Number(study.spent_usd)} limit={Number(study.budget_usd)}
          show={(n) => money(String(n))} /></dd></div>
        <div className="cell"><dt>age</dt><dd><When time={study.updated} /></dd></div>
      </dl>
    </div>
  )
}

function New({ question }: { question: string }) {
  useEffect(() => { document.title = 'New study · Lyceum' }, [])
  const options = useResource<Options>('/options')
  return (
    <div className="page">
      <div className="head"><h1>New study</h1></div>
      <div className="card"><Ready of={options} what="what a study can have">
        {(o) => <StudyForm options={o} question={question} made={studyLink} />}</Ready></div>
    </div>
  )
}

function One({ name }: { name: string }) {
  const study = useResource<StudyView>(studyPath(name), useRounds(1500))
  const over = study.data?.observed ?? 0
  const of = study.data?.cells
  useEffect(() => { document.title = `${of === undefined ? '' : `${over} of ${several(of, 'quest')} · `}${name} · Lyceum` }, [name, over, of])
  return <div className="page takes"><Ready of={study} what="the study">{(s) => <Study study={s} again={study.again} />}</Ready></div>
}
