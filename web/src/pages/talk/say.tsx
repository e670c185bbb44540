import { useState, type FormEvent, type KeyboardEvent } from 'react'
import { Failure, say } from '../../api/client'
import type { Detail, Posted } from '../../api/types'
import { visible, Words } from '../../text/plain'
import { Field } from '../../ui/field'
import { Message } from '../quest/message'

const heard: Record<NonNullable<Posted['delivery']>, string> = {
  posted: 'Sent.', queued: 'Queued: it is heard between two turns, or when the quest goes on. /now cuts the turn short.', delivered: 'Delivered.',
}

/** Say takes a word to the researcher, or a command. */
export function Say({ quest, again }: { quest: Detail; again: () => void }) {
  const [text, setText] = useState('')
  const [busy, setBusy] = useState(false)
  const [told, setTold] = useState('')
  const [wrong, setWrong] = useState('')
  const [files, setFiles] = useState(false)
  const send = async () => {
    setBusy(true)
    setWrong('')
    setTold('')
    try {
      const posted = await say(quest.name, { text })
      setText('')
      setTold(posted.reply ?? heard[posted.delivery ?? 'posted'])
    } catch (error) {
      setWrong(error instanceof Failure ? error.message : String(error))
    }
    setBusy(false)
    again()
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (text.trim() !== '') void send()
  }
  const key = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
    event.preventDefault()
    if (text.trim() !== '' && !busy) void send()
  }
  return (
    <form className="card stack tight say" onSubmit={submit} aria-busy={busy || undefined}>
      <Field label="Say something" hint="Enter sends, Shift-Enter begins a line. /help shows the commands.">
        <textarea className="brief" rows={2} value={text} maxLength={8192} onKeyDown={key} onChange={(e) => setText(e.target.value)} />
      </Field>
      {wrong && <p className="note bad" role="alert"><Words>{wrong}</Words></p>}
      {told && <div className="note" role="status">{told.includes('\n')
        ? <pre className="pre" tabIndex={0}>{visible(told)}</pre> : <Words>{told}</Words>}</div>}
      <div className="actions">
        <button type="button" className="button" onClick={() => setFiles(true)}>With files</button>
        <button className="button first" disabled={busy || text.trim() === ''}>Send</button>
      </div>
      {files && <Message quest={quest} onClose={() => { setFiles(false); again() }} />}
    </form>
  )
}
