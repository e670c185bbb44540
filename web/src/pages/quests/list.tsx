import { useMemo, useState, type ReactNode } from 'react'
import type { Summary } from '../../api/types'
import { questLink } from '../../route'
import { clip, visible } from '../../text/plain'
import { Asked, Away, Badge, Held, money, price, several, short, StatusBadge, When } from '../../ui/show'
import { SideBySide } from '../../ui/beside'
import { Empty } from '../../ui/states'
import { MeasuredList } from '../../ui/measured'
import { Meter } from '../../ui/meter'
import { Spark } from '../../ui/spark'
import { agreed, columns, lined, sorted, total, usual, type Column, type Group, type Sort } from './table'

const kept = 'lyceum-columns'

function storedColumns(): Column[] {
  const told = (localStorage.getItem(kept) ?? '').split(',').filter((c): c is Column => (columns as string[]).includes(c))
  return told.length > 0 ? told : usual
}

const sorts: [Sort, string][] = [['latest', 'latest'], ['name', 'name'], ['state', 'state'], ['answer', 'answer'], ['agreement', 'agreement'], ['cost', 'cost'],
  ['agents', 'agents'], ['papers', 'papers'], ['events', 'events'], ['society', 'society'], ['model', 'model']]
const groups: [Group, string][] = [['', 'no groups'], ['state', 'by state'], ['society', 'by society'], ['model', 'by model'], ['question', 'by question']]

/** List has quests as rows of a table: sorted, grouped, with the columns that somebody chose. Some of them can be set side by side. */
export function List({ quests, all }: { quests: Summary[]; all: number }) {
  const [sort, setSort] = useState<Sort>('latest')
  const [group, setGroup] = useState<Group>('')
  const [shown, setShown] = useState(storedColumns)
  const [picked, setPicked] = useState<ReadonlySet<string>>(new Set())
  const lines = useMemo(() => lined(sorted(quests, sort), group), [quests, sort, group])
  const pick = (name: string, on: boolean) => setPicked((was) => { const now = new Set(was); if (on) now.add(name); else now.delete(name); return now })
  const choose = (column: Column, on: boolean) => {
    const now = columns.filter((c) => (c === column ? on : shown.includes(c)))
    localStorage.setItem(kept, now.join(','))
    setShown(now)
  }
  const chosen = quests.filter((q) => picked.has(q.name))
  if (quests.length === 0) return <Empty title="No quest is called so">Clear the field above to see them all.</Empty>
  return (
    <>
      <div className="row between quests-bar small">
        <span className="muted num">
          {quests.length === all ? several(all, 'quest') : `${quests.length} of ${several(all, 'quest')}`}, {money(String(total(quests)))} in all
          {quests.some((q) => q.running) && `, ${quests.filter((q) => q.running).length} running`}</span>
        <div className="row">
          {chosen.length > 0 && <button className="button small quiet" onClick={() => setPicked(new Set())}>Clear {chosen.length}</button>}
          {chosen.length === 2 && <a className="button small" href={`#/compare?a=${chosen[0]?.name}&b=${chosen[1]?.name}`}>Step by step</a>}
          <select aria-label="Sort by" value={sort} onChange={(e) => setSort(e.target.value as Sort)}>
            {sorts.map(([id, name]) => <option key={id} value={id}>sort: {name}</option>)}</select>
          <select aria-label="Group" value={group} onChange={(e) => setGroup(e.target.value as Group)}>
            {groups.map(([id, name]) => <option key={id} value={id}>{name}</option>)}</select>
          <details className="columns-menu"><summary className="button small">Columns</summary>
            <div className="card">{columns.map((c) => <label key={c} className="choice"><input type="checkbox" checked={shown.includes(c)}
              onChange={(e) => choose(c, e.target.checked)} />{c}</label>)}</div></details>
        </div>
      </div>
      {chosen.length > 1 && <Picked quests={chosen} />}
      <MeasuredList key={shown.join()} className="quests" count={lines.length} guess={72} label="Quests" row={(n) => {
        const line = lines[n]
        if (!line) return null
        if (line.kind === 'group') return <h2 className="quest-group">{visible(clip(line.name, 120))} <span className="muted num">
          {line.count} · {money(String(line.cost))}</span></h2>
        return <Row key={line.quest.name} quest={line.quest} shown={shown} picked={picked.has(line.quest.name)} onPick={(on) => pick(line.quest.name, on)} />
      }} />
    </>
  )
}

function Row({ quest, shown, picked, onPick }: { quest: Summary; shown: Column[]; picked: boolean; onPick: (on: boolean) => void }) {
  return (
    <div className={picked ? 'card quest-card picked' : 'card quest-card'}>
      <input type="checkbox" className="quest-pick" checked={picked} onChange={(e) => onPick(e.target.checked)}
        aria-label={`Set ${quest.name} beside others`} />
      <div className="name">
        <div className="row">
          <a href={questLink(quest.name)}>{quest.name}</a>
          <StatusBadge status={quest.status} /><Held quest={quest} /><Away quest={quest} />
          <Asked open={quest.open_questions} />
        </div>
        {(quest.question ?? quest.reason) && <span className="muted small clip" title={quest.reason}>
          {visible(clip(quest.question ?? quest.reason ?? '', 160))}</span>}
      </div>
      <dl className="quest-cells">{shown.map((c) => <div key={c} className={`cell ${c}`}><dt>{c}</dt><dd className="num">{cell(quest, c)}</dd></div>)}</dl>
    </div>
  )
}

function cell(q: Summary, column: Column): ReactNode {
  switch (column) {
    case 'answer': return q.verdict ? <span className={q.verdict.candidate ? 'muted' : 'strong'} title={q.verdict.candidate ? 'a candidate' : undefined}>
      {visible(clip(q.verdict.value, 90))}</span> : '–'
    case 'society': return q.society || '–'
    case 'model': return q.models.join(', ') || '–'
    case 'agents': return q.agents
    case 'agreement': return agreed(q) ? visible(agreed(q)) : '–'
    case 'papers': return q.papers ? `${q.papers.published} of ${q.papers.published + q.papers.submitted + q.papers.rejected}` : '–'
    case 'events': return short(q.events)
    case 'cost': return <Cost quest={q} />
    case 'activity': return <Spark data={q.activity} />
    case 'age': return <When time={q.updated} />
  }
}

function Cost({ quest }: { quest: Summary }) {
  const said = price(quest.cost_usd, quest.cost_at_least_usd)
  if (quest.limits.cost_usd === undefined) return said
  return <Meter label="cost" used={Number(quest.cost_usd ?? quest.cost_at_least_usd)} limit={Number(quest.limits.cost_usd)}
    show={(n) => money(String(n))} said={said} />
}

// Quests that were picked, a column each.
function Picked({ quests }: { quests: Summary[] }) {
  const rows: [string, (q: Summary) => ReactNode][] = [
    ['question', (q) => visible(clip(q.question ?? '–', 120))], ['answer', (q) => cell(q, 'answer')],
    ['sure', (q) => (q.verdict ? <Badge>{q.verdict.sure}</Badge> : '–')],
    ['agreement', (q) => cell(q, 'agreement')], ['society', (q) => q.rules], ['model', (q) => cell(q, 'model')], ['agents', (q) => q.agents],
    ['turns', (q) => short(q.turns)], ['tokens', (q) => short(q.tokens)], ['cost', (q) => price(q.cost_usd, q.cost_at_least_usd)],
    ['events', (q) => short(q.events)],
  ]
  return <SideBySide things={quests.map((q) => ({ key: q.name, head: <a href={questLink(q.name)}>{q.name}</a> }))}
    rows={rows.map(([name, show]) => [name, quests.map(show)])} />
}
