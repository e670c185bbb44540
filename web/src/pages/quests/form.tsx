import { useEffect, useId, useMemo, useRef, useState, type FormEvent } from 'react'
import { create, validate } from '../../api/client'
import type { FieldError, NewFile, NewQuest, Options, Validation } from '../../api/types'
import { go, questLink } from '../../route'
import { fieldNames, societyOf } from '../../society'
import { Field } from '../../ui/field'
import { asErrors, useChecked } from './checked'
import { DataDrop } from './data'
import { blank, nameFor, specOf, type Draft } from './draft'
import { about, told } from './models'

const shown = ['name', 'society', 'model', ...fieldNames, 'computer', 'seed', 'data', 'limits.cost', 'limits.turns', 'limits.duration']

/** QuestForm asks for the question first; all else has a value that works. */
export function QuestForm({ options, question = '' }: { options: Options; question?: string }) {
  const form = useRef<HTMLFormElement>(null)
  const list = useId()
  const [draft, setDraft] = useState(() => ({ ...blank(options), problem: question, name: nameFor(question) }))
  const [files, setFiles] = useState<NewFile[]>([])
  const [visited, setVisited] = useState<ReadonlySet<string>>(new Set())
  const [sent, setSent] = useState(false)
  const [busy, setBusy] = useState(false)
  const [refused, setRefused] = useState<FieldError[]>([])
  const body = useMemo((): NewQuest => ({ spec: specOf(draft, files), files }), [draft, files])
  const checked: Validation | undefined = useChecked(body, validate, sent || visited.size > 0 || question !== '')
  const errors = refused.length > 0 ? refused : (checked?.errors ?? [])
  const set = (name: keyof Draft) => ({
    value: draft[name],
    onChange: (e: { target: { value: string } }) => {
      // Until somebody names it, a quest is called by its question.
      const named = name === 'problem' && draft.name === nameFor(draft.problem) ? { name: nameFor(e.target.value) } : {}
      setDraft({ ...draft, ...named, [name]: e.target.value })
      setRefused([])
    },
    onBlur: () => setVisited(new Set([...visited, name])),
  })
  // Nobody is told of a mistake in a field that he has not come to yet.
  const wrong = (name: keyof Draft, ...fields: string[]) =>
    sent || visited.has(name) ? errors.filter((e) => fields.includes(e.field)).map((e) => e.message) : []
  const rest = errors.filter((e) => !shown.includes(e.field))
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    setSent(true)
    setBusy(true)
    try {
      // The check finds all that is wrong at once; making stops at the first thing that another quest has.
      const { valid, errors: all } = await validate(body)
      if (!valid) return refuse(all)
      const quest = await create({ ...body, start: true })
      go(questLink(quest.name))
    } catch (error) {
      refuse(asErrors(error))
    }
  }
  const refuse = (all: FieldError[]) => {
    setRefused(all)
    setBusy(false)
  }
  // Whoever was refused goes on at the first fault; it is drawn by then.
  useEffect(() => {
    if (refused.length > 0) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus()
  }, [refused])
  return (
    <form ref={form} className="stack" onSubmit={(e) => void submit(e)} noValidate>
      <Field label="Question" hint="Markdown; say what an answer must have" wrong={wrong('problem', 'problem', 'task')}>
        <textarea {...set('problem')} rows={6} /></Field>
      <div className="form-grid">
        <Field label="Name" hint="a-z, 0-9 and -; the quest's folder is called so" wrong={wrong('name', 'name')}>
          <input {...set('name')} autoComplete="off" spellCheck={false} /></Field>
        <Field label="Society" hint="the rules that agents work by" wrong={wrong('society', 'society')}>
          <select {...set('society')}>{options.societies.map((s) => <option key={s}>{s}</option>)}</select>
        </Field>
        <Field label="Model" hint={told(options, draft.model)} wrong={wrong('model', 'model')}>
          <input {...set('model')} list={list} autoComplete="off" spellCheck={false} /></Field>
        <datalist id={list}>{options.models.map((m) => <option key={m.name} value={m.name} label={`${m.name} · ${about(m)}`} />)}</datalist>
      </div>
      <DataDrop files={files} onFiles={setFiles}
        wrong={sent ? errors.filter((e) => e.field === 'data' || e.field.startsWith('files')).map((e) => e.message) : []} />
      <div className="form-grid">
        {societyOf(draft.society).fields.map(({ name, label, hint, values }) => (
          <Field key={name} label={label} hint={hint} wrong={wrong(name, name)}>
            {values ? <Pick set={set(name)} values={values(options)} /> : <input {...set(name)} inputMode="numeric" />}
          </Field>
        ))}
        <Field label="Computer" hint="the sandbox of each agent" wrong={wrong('computer', 'computer')}>
          <Pick set={set('computer')} values={options.computers} /></Field>
        <Field label="Seed" wrong={wrong('seed', 'seed')}><input {...set('seed')} inputMode="numeric" /></Field>
      </div>
      <fieldset className="limits">
        <legend>Where it stops by itself</legend>
        <div className="form-grid">
          <Field label="Cost in dollars" hint="such as 2.50; empty: no limit" wrong={wrong('cost', 'limits.cost')}>
            <input {...set('cost')} inputMode="decimal" /></Field>
          <Field label="Turns" wrong={wrong('turns', 'limits.turns')}><input {...set('turns')} inputMode="numeric" /></Field>
          <Field label="Time" hint="such as 90s, 30m or 2h" wrong={wrong('duration', 'limits.duration')}><input {...set('duration')} /></Field>
        </div>
      </fieldset>
      {(sent || visited.size > 1) && rest.map((e) => <p className="note bad" role="alert" key={e.field + e.message}>{e.field && <b>{e.field}: </b>}
        {e.message}</p>)}
      <div className="row">
        <button className="button first" disabled={busy}>{busy ? 'Making it…' : 'Start the quest'}</button>
        {checked?.valid && <span className="small muted estimate">{checked.estimate?.words ?? 'It costs nothing: no model of it is paid for.'}</span>}
      </div>
      {checked?.yaml && <details><summary>The same as quest.yaml</summary><pre className="pre" tabIndex={0}>{checked.yaml}</pre></details>}
    </form>
  )
}

type Bound = { value: string; onChange: (e: { target: { value: string } }) => void; onBlur: () => void }

const Pick = ({ set, values, ...rest }: { set: Bound; values: string[] }) => (
  <select {...set} {...rest}><option value="">default</option>{values.map((v) => <option key={v}>{v}</option>)}</select>
)
