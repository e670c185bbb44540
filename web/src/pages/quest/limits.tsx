import { useState, type FormEvent } from 'react'
import { control, Failure } from '../../api/client'
import type { Detail, Limits } from '../../api/types'
import { Dialog } from '../../ui/dialog'
import { Field } from '../../ui/field'

/** Raise gives a quest other limits; one that has reached a limit goes on with them. */
export function Raise({ quest, onClose, onDone }: { quest: Detail; onClose: () => void; onDone: () => void }) {
  const [cost, setCost] = useState('')
  const [turns, setTurns] = useState('')
  const [tokens, setTokens] = useState('')
  const [minutes, setMinutes] = useState('')
  const [storage, setStorage] = useState('')
  const [wrong, setWrong] = useState('')
  const [busy, setBusy] = useState(false)
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    const limits: Limits = {}
    if (cost.trim()) limits.cost_usd = cost.trim()
    if (turns.trim()) limits.turns = Number(turns)
    if (tokens.trim()) limits.tokens = Number(tokens)
    if (minutes.trim()) limits.seconds = Number(minutes) * 60
    if (storage.trim()) limits.storage_bytes = Math.round(Number(storage) * mib)
    setBusy(true)
    try {
      await control(quest.name, { action: quest.status === 'exceeded' ? 'start' : 'limit', limits })
      onDone()
      onClose()
    } catch (error) {
      setWrong(error instanceof Failure ? error.message : String(error))
      setBusy(false)
    }
  }
  return (
    <Dialog title={`Limits of ${quest.name}`} onClose={onClose}>
      <form className="stack" onSubmit={(e) => void submit(e)} noValidate>
        <p className="muted small">What is left empty stays as it is. Calls under way when a limit is reached still come in.</p>
        <div className="form-2">
          <Field label="Cost in US dollars" hint={hint(quest.limits.cost_usd)}>
            <input value={cost} inputMode="decimal" onChange={(e) => setCost(e.target.value)} /></Field>
          <Field label="Turns" hint={hint(quest.limits.turns)}><input value={turns} inputMode="numeric" onChange={(e) => setTurns(e.target.value)} /></Field>
          <Field label="Tokens" hint={hint(quest.limits.tokens)}>
            <input value={tokens} inputMode="numeric" onChange={(e) => setTokens(e.target.value)} /></Field>
          <Field label="Minutes of running time" hint={hint(quest.limits.seconds === undefined ? undefined : quest.limits.seconds / 60)}>
            <input value={minutes} inputMode="decimal" onChange={(e) => setMinutes(e.target.value)} /></Field>
          <Field label="Storage in MiB" hint={quest.limits.storage_bytes === undefined ? 'the default now' : hint(quest.limits.storage_bytes / mib)}>
            <input value={storage} inputMode="decimal" onChange={(e) => setStorage(e.target.value)} /></Field>
        </div>
        {wrong && <p className="note bad" role="alert">{wrong}</p>}
        <div className="actions">
          <button type="button" className="button" onClick={onClose}>Cancel</button>
          <button className="button first" disabled={busy}>{quest.status === 'exceeded' ? 'Go on' : 'Set'}</button>
        </div>
      </form>
    </Dialog>
  )
}

const mib = 1 << 20

function hint(now: string | number | undefined): string {
  return now === undefined ? 'none now' : `${now} now`
}
