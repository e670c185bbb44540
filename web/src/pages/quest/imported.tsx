import { useState, type FormEvent } from 'react'
import { control, Failure } from '../../api/client'
import type { Allowance, Detail, ImportedQuest } from '../../api/types'
import { Dialog } from '../../ui/dialog'
import { Field } from '../../ui/field'
import { visible, Words } from '../../text/plain'

/** Imported is what a stranger's quest asks for, and where its owner here says what it gets. */
export function Imported({ quest, onDone }: { quest: Detail; onDone: () => void }) {
  const [open, setOpen] = useState(false)
  const from = quest.imported
  if (!from || !from.asks.computer) return null // without computers there is nothing to allow
  return (
    <section className="card stack tight imported" aria-labelledby="imported">
      <div className="row between"><h2 id="imported">Imported</h2>
        <button className="button" onClick={() => setOpen(true)}>Allow</button></div>
      <p className="small muted">This quest is a stranger’s. It gets of what it asks for what you allow.</p>
      <dl className="facts">
        <dt>network</dt><dd><Words>{asked(from)}</Words></dd>
        <dt>allowed</dt><dd><Words>{allowed(from.allowed)}</Words></dd>
      </dl>
      {from.asks.dockerfile && (
        <details className="spec"><summary>its Dockerfile</summary><pre className="pre" tabIndex={0}>{visible(from.asks.dockerfile)}</pre></details>
      )}
      {open && <Allow quest={quest.name} from={from} onClose={() => setOpen(false)} onDone={onDone} />}
    </section>
  )
}

function asked({ asks }: ImportedQuest): string {
  return asks.network === 'allow' ? (asks.hosts ?? []).join(', ') : asks.network
}

function allowed(a: Allowance): string {
  const all = [
    a.network && 'the hosts it asks for', a.open_network && 'the open network', ...(a.hosts ?? []),
    a.build_network ? 'to build its image, with network' : a.build && 'to build its image',
  ].filter(Boolean)
  return all.length > 0 ? all.join(', ') : 'nothing'
}

type Switch = 'network' | 'open_network' | 'build' | 'build_network'

// Only what the quest asks for can be switched; hosts besides are the owner's to name.
function switches({ asks }: ImportedQuest): Array<[Switch, string]> {
  return [
    ...(asks.network === 'allow' ? [['network', 'The public hosts that it asks for'] as [Switch, string]] : []),
    ...(asks.network === 'open' ? [
      ['network', 'The public network'] as [Switch, string], ['open_network', 'The open network, with this machine and its surroundings'] as [Switch, string],
    ] : []),
    ...(asks.dockerfile ? [
      ['build', 'Build an image from its Dockerfile, without network'] as [Switch, string], ['build_network', 'Build it with network'] as [Switch, string],
    ] : []),
  ]
}

function Allow({ quest, from, onClose, onDone }: { quest: string; from: ImportedQuest; onClose: () => void; onDone: () => void }) {
  const [allow, setAllow] = useState<Allowance>(from.allowed)
  const [hosts, setHosts] = useState((from.allowed.hosts ?? []).join('\n'))
  const [wrong, setWrong] = useState('')
  const [busy, setBusy] = useState(false)
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    setBusy(true)
    try {
      await control(quest, { action: 'allow', allow: { ...allow, hosts: hosts.split(/\s+/).filter(Boolean) } })
      onDone()
      onClose()
    } catch (error) {
      setWrong(error instanceof Failure ? error.message : String(error))
      setBusy(false)
    }
  }
  return (
    <Dialog title={`What ${quest} may do`} onClose={onClose}>
      <form className="stack" onSubmit={(e) => void submit(e)} noValidate>
        <p className="muted small">It holds for computers that start from now on, and for forks of the quest. What is switched off is taken back.</p>
        {switches(from).map(([key, label]) => (
          <label key={key} className="choice"><input type="checkbox" checked={allow[key] ?? false}
            onChange={(e) => setAllow({ ...allow, [key]: e.target.checked })} /> {label}</label>
        ))}
        <Field label="Hosts besides" hint="One in a line, such as 10.0.0.5:8080. Private addresses are reached only if they stand here.">
          <textarea rows={3} value={hosts} onChange={(e) => setHosts(e.target.value)} /></Field>
        {wrong && <p className="note bad" role="alert">{wrong}</p>}
        <div className="actions">
          <button type="button" className="button" onClick={onClose}>Cancel</button>
          <button className="button first" disabled={busy}>Allow this</button>
        </div>
      </form>
    </Dialog>
  )
}
