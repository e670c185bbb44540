import { useEffect, useMemo, useRef, useState, type FormEvent } from 'react'
import { makeStudy, validateStudy } from '../../api/client'
import type { FieldError, NewStudy, Options, StudyValidation } from '../../api/types'
import { go } from '../../route'
import { societyOf } from '../../society'
import { Field } from '../../ui/field'
import { money, several } from '../../ui/show'
import { asErrors, useChecked } from '../quests/checked'
import { nameFor } from '../quests/draft'
import { about } from '../quests/models'
import { listOf } from './table'

type Draft = {
  name: string; question: string; models: string[]; others: string; seeds: string
  societies: Record<string, string>; budget: string; parallel: string
}

const shown = ['name', 'question', 'models', 'seeds', 'societies', 'budget_usd', 'parallel']

// A number that is none goes to the server as it is: what is wrong is said there.
function studyOf(draft: Draft): NewStudy {
  const whole = /^\d+$/.test(draft.parallel.trim()) ? Number(draft.parallel) : 0
  return {
    name: draft.name.trim(), question: draft.question, models: [...draft.models, ...listOf(draft.others)], seeds: listOf(draft.seeds),
    societies: Object.entries(draft.societies).map(([society, agents]) => (/^\d+$/.test(agents.trim()) ? { society, agents: Number(agents) } : { society })),
    budget_usd: draft.budget.trim(), parallel: whole,
  }
}

/** StudyForm asks for the question first, then what it is put to, and then for the money. */
export function StudyForm({ options, question, made }: { options: Options; question: string; made: (name: string) => string }) {
  const form = useRef<HTMLFormElement>(null)
  // Those whose question stands in another place of their spec, with files, are for quests alone.
  const societies = options.societies.filter((s) => societyOf(s).question === 'problem')
  const [draft, setDraft] = useState<Draft>(() => ({
    name: nameFor(question), question, models: [options.default_model || options.demo_model], others: '', seeds: '1..3',
    societies: societies[0] ? { [societies[0]]: '' } : {}, budget: '1.00', parallel: '2' }))
  const [visited, setVisited] = useState<ReadonlySet<string>>(new Set())
  const [sent, setSent] = useState(false)
  const [busy, setBusy] = useState(false)
  const [refused, setRefused] = useState<FieldError[]>([])
  const body = useMemo(() => studyOf(draft), [draft])
  const checked: Partial<StudyValidation> | undefined = useChecked(body, validateStudy, sent || visited.size > 0 || question !== '')
  const errors = refused.length > 0 ? refused : (checked?.errors ?? [])
  const change = (part: Partial<Draft>) => { setDraft({ ...draft, ...part }); setRefused([]) }
  const visit = (name: string) => setVisited(new Set([...visited, name]))
  const text = (name: 'name' | 'question' | 'others' | 'seeds' | 'budget' | 'parallel') => ({
    value: draft[name], onBlur: () => visit(name),
    onChange: (e: { target: { value: string } }) => change({ [name]: e.target.value,
      // Until somebody names it, a study is called by its question.
      ...(name === 'question' && draft.name === nameFor(draft.question) ? { name: nameFor(e.target.value) } : {}) }),
  })
  const wrong = (name: string, field: string) => (sent || visited.has(name) ? errors.filter((e) => e.field === field).map((e) => e.message) : [])
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    setSent(true)
    setBusy(true)
    const refuse = (all: FieldError[]) => { setRefused(all); setBusy(false) }
    try {
      const { valid, errors: all } = await validateStudy(body)
      if (!valid) return refuse(all)
      const study = await makeStudy({ ...body, start: true })
      go(made(study.study))
    } catch (error) {
      refuse(asErrors(error))
    }
  }
  // Whoever was refused goes on at the first fault; it is drawn by then.
  useEffect(() => { if (refused.length > 0) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus() }, [refused])
  const models = [...new Set([options.demo_model, ...options.models.map((m) => m.name), ...draft.models])]
  const known = (name: string) => options.models.find((m) => m.name === name)
  return (
    <form ref={form} className="stack" onSubmit={(e) => void submit(e)} noValidate>
      <Field label="Question" hint="all quests of the study are asked the same" wrong={wrong('question', 'question')}>
        <textarea {...text('question')} rows={4} /></Field>
      <div className="form-grid">
        <Field label="Name" hint="a-z, 0-9 and -; its quests are called so, with a number" wrong={wrong('name', 'name')}>
          <input {...text('name')} autoComplete="off" spellCheck={false} /></Field>
        <Field label="Seeds" hint="such as 1..3, or 1, 7, 10..12" wrong={wrong('seeds', 'seeds')}><input {...text('seeds')} /></Field>
        <Field label="Budget in dollars" hint="for all quests together" wrong={wrong('budget', 'budget_usd')}>
          <input {...text('budget')} inputMode="decimal" /></Field>
        <Field label="At once" hint="how many quests are under way, 1 to 16" wrong={wrong('parallel', 'parallel')}>
          <input {...text('parallel')} inputMode="numeric" /></Field>
      </div>
      <fieldset className="limits"><legend>Models</legend>
        <div className="study-choices">{models.map((m) => { const k = known(m); return (
          <label key={m} className="choice"><input type="checkbox" checked={draft.models.includes(m)}
            onChange={(e) => { visit('models'); change({ models: e.target.checked ? [...draft.models, m] : draft.models.filter((o) => o !== m) }) }} />
          <span>{m} <span className="small muted">{k ? about(k) : m === options.demo_model ? 'needs no key' : ''}</span></span></label>) })}</div>
        <Field label="Other models" hint="provider/name, with commas" wrong={wrong('models', 'models')}>
          <input {...text('others')} autoComplete="off" spellCheck={false} /></Field>
      </fieldset>
      <fieldset className="limits"><legend>Societies</legend>
        <div className="study-choices">{societies.map((s) => (
          <div key={s} className="row"><label className="choice"><input type="checkbox" checked={s in draft.societies} onChange={(e) => {
            visit('societies')
            const now = { ...draft.societies }
            if (e.target.checked) now[s] = ''
            else delete now[s]
            change({ societies: now })
          }} /><span>{s}</span></label>
          {s in draft.societies && societyOf(s).fields.some((f) => f.name === 'agents') && <label className="row small">agents
            <input className="study-agents" inputMode="numeric" value={draft.societies[s]} placeholder="default"
              onChange={(e) => change({ societies: { ...draft.societies, [s]: e.target.value } })} /></label>}
          </div>))}</div>
        {wrong('societies', 'societies').map((m) => <p className="wrong" role="alert" key={m}>{m}</p>)}
      </fieldset>
      {sent && errors.filter((e) => !shown.includes(e.field)).map((e) =>
        <p className="note bad" role="alert" key={e.field + e.message}>{e.field && <b>{e.field}: </b>}{e.message}</p>)}
      <div className="row">
        <button className="button first" disabled={busy}>{busy ? 'Making it…' : 'Start the study'}</button>
        {checked?.valid && checked.cells !== undefined && <span className="small muted estimate">
          {several(checked.cells, 'quest')}, each with {money(checked.share_usd ?? '0')} at most. {' '}
          {checked.estimate?.words ?? 'It costs nothing: no model of it is paid for.'}</span>}
      </div>
    </form>
  )
}
