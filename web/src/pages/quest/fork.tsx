import { useState, type FormEvent } from 'react'
import { control, Failure } from '../../api/client'
import { go, questLink } from '../../route'
import { Dialog } from '../../ui/dialog'
import { Field } from '../../ui/field'

/** Fork makes a quest that begins as this one did, up to an event. */
export function Fork({ quest, at, head, onClose }: { quest: string; at: number; head: number; onClose: () => void }) {
  const [seq, setSeq] = useState(at > 0 ? String(at) : '')
  const [name, setName] = useState('')
  const [model, setModel] = useState('')
  const [seed, setSeed] = useState('')
  const [message, setMessage] = useState('')
  const [start, setStart] = useState(true)
  const [failure, setFailure] = useState<Failure>()
  const [busy, setBusy] = useState(false)
  const wrong = (field: string) => failure?.fields.filter((f) => f.field === field).map((f) => f.message) ?? []
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    setBusy(true)
    try {
      const made = await control(quest, {
        action: 'fork', at: Number(seq) || undefined, name: name.trim() || undefined, model: model.trim() || undefined,
        seed: seed.trim() || undefined, message: message.trim() || undefined, start,
      })
      onClose()
      go(questLink(made.quest.name))
    } catch (error) {
      setFailure(error instanceof Failure ? error : new Failure(0, '', String(error)))
      setBusy(false)
    }
  }
  return (
    <Dialog title={`Fork ${quest}`} onClose={onClose}>
      <form className="stack" onSubmit={(e) => void submit(e)} noValidate>
        <p className="muted small">The fork has the same past up to an event, hashes included, and its own future from there.</p>
        <div className="form-2">
          <Field label="After event" hint={`1 to ${head}; empty: all of it`} wrong={wrong('at')}>
            <input value={seq} inputMode="numeric" onChange={(e) => setSeq(e.target.value)} /></Field>
          <Field label="Name" hint="empty: one is made" wrong={wrong('name')}><input value={name} onChange={(e) => setName(e.target.value)} /></Field>
          <Field label="Model" hint="empty: the same" wrong={wrong('model')}><input value={model} onChange={(e) => setModel(e.target.value)} /></Field>
          <Field label="Seed" hint="empty: the same" wrong={wrong('seed')}>
            <input value={seed} inputMode="numeric" onChange={(e) => setSeed(e.target.value)} /></Field>
        </div>
        <Field label="Say first to the agents" wrong={wrong('message')}>
          <textarea value={message} rows={2} onChange={(e) => setMessage(e.target.value)} /></Field>
        <label className="choice"><input type="checkbox" checked={start} onChange={(e) => setStart(e.target.checked)} />Run it at once</label>
        {failure && <p className="note bad" role="alert">{failure.message}</p>}
        <div className="actions">
          <button type="button" className="button" onClick={onClose}>Cancel</button>
          <button className="button first" disabled={busy}>Make the fork</button>
        </div>
      </form>
    </Dialog>
  )
}
