import { useRef, useState, type DragEvent } from 'react'
import { create, Failure, validate } from '../../api/client'
import type { FieldError, Validation } from '../../api/types'
import { go, questLink } from '../../route'
import { several } from '../../ui/show'
import { readBundle, type Bundle } from './files'

const asErrors = (error: unknown): FieldError[] =>
  error instanceof Failure && error.fields.length > 0 ? error.fields : [{ field: '', message: error instanceof Error ? error.message : String(error) }]

/** Upload takes a quest.yaml, with the files beside it, or a zip of all of them. */
export function Upload() {
  const input = useRef<HTMLInputElement>(null)
  const [over, setOver] = useState(false)
  const [bundle, setBundle] = useState<Bundle>()
  const [checked, setChecked] = useState<Validation>()
  const [errors, setErrors] = useState<FieldError[]>([])
  const [name, setName] = useState('')
  const [busy, setBusy] = useState(false)

  const take = async (files: readonly File[]) => {
    setErrors([])
    setChecked(undefined)
    try {
      const read = await readBundle(files)
      setBundle(read)
      const result = await validate(read)
      setChecked(result)
      setErrors(result.errors)
      setName(result.name ?? '')
    } catch (error) {
      setErrors(asErrors(error))
    }
  }
  const start = async () => {
    if (!bundle) return
    setBusy(true)
    try {
      const quest = await create({ ...bundle, name: name.trim() || undefined, start: true })
      go(questLink(quest.name))
    } catch (error) {
      setErrors(asErrors(error))
      setBusy(false)
    }
  }
  const drop = (event: DragEvent) => {
    event.preventDefault()
    setOver(false)
    void take([...event.dataTransfer.files])
  }
  return (
    <div className="stack">
      <div className={over ? 'drop over' : 'drop'} onDragOver={(e) => { e.preventDefault(); setOver(true) }} onDragLeave={() => setOver(false)} onDrop={drop}>
        <p>Drop a <code>quest.yaml</code> here, with the files that it names, or a zip of its folder.</p>
        <button className="button" onClick={() => input.current?.click()}>Choose files</button>
        <input ref={input} type="file" multiple hidden aria-label="Files of the quest" accept=".yaml,.yml,.zip,.csv,.md,.txt,.json"
          onChange={(e) => void take([...(e.target.files ?? [])])} />
      </div>
      {errors.map((e) => (
        <p className="note bad" role="alert" key={`${e.line}${e.field}${e.message}`}>{e.line ? `Line ${e.line}: ` : ''}{e.field && <b>{e.field}: </b>}
          {e.message}</p>
      ))}
      {bundle && (
        <>
          <details open={errors.length > 0}><summary>quest.yaml</summary>
            <Numbered text={bundle.yaml} marked={new Set(errors.map((e) => e.line ?? 0))} /></details>
          {bundle.files.length > 0 && <p className="small muted">With {several(bundle.files.length, 'file')}: {bundle.files.slice(0, 12).map((f) => f.path)
            .join(', ')}{bundle.files.length > 12 && ' …'}</p>}
          <div className="row">
            {checked?.valid && <label className="row small">Name <input value={name} onChange={(e) => setName(e.target.value)} /></label>}
            <button className="button first" disabled={busy || !checked?.valid} onClick={() => void start()}>{busy ? 'Making it…' : 'Start the quest'}</button>
          </div>
        </>
      )}
    </div>
  )
}

const Numbered = ({ text, marked }: { text: string; marked: ReadonlySet<number> }) => (
  <pre className="pre" tabIndex={0}>
    {text.split('\n').map((line, i) => <div key={i}><span className="muted num">{String(i + 1).padStart(3)}  </span>
      {marked.has(i + 1) ? <mark>{line}</mark> : line}</div>)}
  </pre>
)
