import { useEffect, useState, type FormEvent } from 'react'
import { create, Failure, validate } from '../../api/client'
import type { FieldError, Options, Validation } from '../../api/types'
import { go, questLink } from '../../route'
import { fieldNames, societyOf } from '../../society'
import { Field } from '../../ui/field'
import { blank, specOf, type Draft } from './draft'

const shown = ['name', 'society', 'model', ...fieldNames, 'computer', 'seed', 'limits.cost', 'limits.turns', 'limits.duration']

/** useValidation asks the server what it thinks of a draft, a moment after the last key. */
function useValidation(draft: Draft, touched: boolean): Validation | undefined {
  const [result, setResult] = useState<Validation>()
  useEffect(() => {
    if (!touched) return
    let late = false
    const timer = window.setTimeout(() => {
      validate({ spec: specOf(draft) }).then((r) => !late && setResult(r), (error: unknown) => {
        if (late) return
        const errors = error instanceof Failure && error.fields.length > 0 ? error.fields
          : [{ field: '', message: error instanceof Error ? error.message : String(error) }]
        setResult({ valid: false, errors })
      })
    }, 350)
    return () => { late = true; window.clearTimeout(timer) }
  }, [draft, touched])
  return result
}

export function QuestForm({ options }: { options: Options }) {
  const [draft, setDraft] = useState(() => blank(options))
  const [visited, setVisited] = useState<ReadonlySet<string>>(new Set())
  const [sent, setSent] = useState(false)
  const [busy, setBusy] = useState(false)
  const [refused, setRefused] = useState<FieldError[]>([])
  const checked = useValidation(draft, sent || visited.size > 0)
  const errors = refused.length > 0 ? refused : (checked?.errors ?? [])
  const set = (name: keyof Draft) => ({
    value: draft[name],
    onChange: (e: { target: { value: string } }) => { setDraft({ ...draft, [name]: e.target.value }); setRefused([]) },
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
      const quest = await create({ spec: specOf(draft), start: true })
      go(questLink(quest.name))
    } catch (error) {
      setRefused(error instanceof Failure && error.fields.length > 0 ? error.fields
        : [{ field: '', message: error instanceof Error ? error.message : String(error) }])
      setBusy(false)
    }
  }
  return (
    <form className="stack" onSubmit={(e) => void submit(e)} noValidate>
      <div className="form-grid">
        <Field label="Name" hint="a-z, 0-9 and -; the quest's folder is called so" wrong={wrong('name', 'name')}>
          <input {...set('name')} autoComplete="off" spellCheck={false} /></Field>
        <Field label="Society" hint="the rules that agents work by" wrong={wrong('society', 'society')}>
          <select {...set('society')}>{options.societies.map((s) => <option key={s}>{s}</option>)}</select>
        </Field>
        <Field label="Model" hint={`needs no key: ${options.demo_model}`} wrong={wrong('model', 'model')}>
          <input {...set('model')} autoComplete="off" spellCheck={false} /></Field>
      </div>
      <Field label="Question" hint="Markdown; say what an answer must have" wrong={wrong('problem', 'problem', 'task')}>
        <textarea {...set('problem')} rows={6} /></Field>
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
        {checked?.valid && <span className="small muted">The spec is valid.</span>}
      </div>
      {checked?.yaml && <details><summary>The same as quest.yaml</summary><pre className="pre" tabIndex={0}>{checked.yaml}</pre></details>}
    </form>
  )
}

type Bound = { value: string; onChange: (e: { target: { value: string } }) => void; onBlur: () => void }

const Pick = ({ set, values, ...rest }: { set: Bound; values: string[] }) => (
  <select {...set} {...rest}><option value="">default</option>{values.map((v) => <option key={v}>{v}</option>)}</select>
)
