import { useState, type FormEvent } from 'react'
import { Failure, say } from '../../api/client'
import type { Detail } from '../../api/types'
import { Dialog } from '../../ui/dialog'
import { Field } from '../../ui/field'

/** Message says something to all agents or to one. */
export function Message({ quest, to = '', onClose }: { quest: Detail; to?: string; onClose: () => void }) {
  const [agent, setAgent] = useState(to)
  const [text, setText] = useState('')
  const [wrong, setWrong] = useState('')
  const [posted, setPosted] = useState('')
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    try {
      const { running } = await say(quest.name, { text, to: agent || undefined })
      setText('')
      setWrong('')
      setPosted(running ? 'Recorded. They hear it in their next turn.' : 'Recorded. They hear it when the quest runs.')
    } catch (error) {
      setWrong(error instanceof Failure ? error.message : String(error))
    }
  }
  return (
    <Dialog title="Say something" onClose={onClose}>
      <form className="stack" onSubmit={(e) => void submit(e)}>
        <Field label="To">
          <select value={agent} onChange={(e) => setAgent(e.target.value)}>
            <option value="">all agents</option>
            {quest.team.map((a) => <option key={a.name}>{a.name}</option>)}
          </select>
        </Field>
        <Field label="Message"><textarea value={text} rows={4} required maxLength={8192} onChange={(e) => setText(e.target.value)} /></Field>
        {wrong && <p className="note bad" role="alert">{wrong}</p>}
        {posted && <p className="note good" role="status">{posted}</p>}
        <div className="actions">
          <button type="button" className="button" onClick={onClose}>Close</button>
          <button className="button first" disabled={text.trim() === ''}>Send</button>
        </div>
      </form>
    </Dialog>
  )
}
