import { useState, type ClipboardEvent, type FormEvent } from 'react'
import { Failure, say } from '../../api/client'
import type { Detail } from '../../api/types'
import { base64 } from '../../text/base64'
import { visible } from '../../text/plain'
import { Dialog } from '../../ui/dialog'
import { Field } from '../../ui/field'
import { bytes } from '../../ui/show'
import { refusal } from './attach'

/** Message says something to all agents or to one, and shows them pictures and files. */
export function Message({ quest, to = '', onClose }: { quest: Detail; to?: string; onClose: () => void }) {
  const [agent, setAgent] = useState(to)
  const [text, setText] = useState('')
  const [files, setFiles] = useState<File[]>([])
  const [wrong, setWrong] = useState('')
  const [posted, setPosted] = useState('')
  const add = (more: File[]) => {
    const all = [...files, ...more]
    const fault = refusal(all)
    setWrong(fault)
    if (fault === '') setFiles(all)
  }
  const paste = (event: ClipboardEvent) => {
    const pasted = [...event.clipboardData.files]
    if (pasted.length === 0) return
    event.preventDefault()
    add(pasted)
  }
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    try {
      const attachments = await Promise.all(files.map(async (file) => ({ name: file.name, data: base64(new Uint8Array(await file.arrayBuffer())) })))
      const { running } = await say(quest.name, { text, to: agent || undefined, attachments: attachments.length > 0 ? attachments : undefined })
      setText('')
      setFiles([])
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
        <Field label="Message">
          <textarea value={text} rows={4} maxLength={8192} onPaste={paste} onChange={(e) => setText(e.target.value)} />
        </Field>
        <Field label="Pictures and files" hint="They can be pasted into the message too. Models that can see are shown PNG, JPEG, GIF and WebP.">
          <input type="file" multiple onChange={(e) => { add([...e.target.files ?? []]); e.target.value = '' }} />
        </Field>
        {files.length > 0 && <ul className="stack tight attaching" aria-label="What goes with it">
          {files.map((file, i) => <li className="row small" key={i}>
            <span className="mono">{visible(file.name)}</span><span className="muted num">{bytes(file.size)}</span>
            <button type="button" className="button small" aria-label={`Leave out ${file.name}`}
              onClick={() => setFiles(files.filter((_, n) => n !== i))}>Leave out</button>
          </li>)}
        </ul>}
        {wrong && <p className="note bad" role="alert">{wrong}</p>}
        {posted && <p className="note good" role="status">{posted}</p>}
        <div className="actions">
          <button type="button" className="button" onClick={onClose}>Close</button>
          <button className="button first" disabled={text.trim() === '' && files.length === 0}>Send</button>
        </div>
      </form>
    </Dialog>
  )
}
