import { useState, type FormEvent } from 'react'
import { orderTask } from '../../api/client'
import type { TaskDetail, TaskOrder } from '../../api/types'
import { flat, visible, Words } from '../../text/plain'
import { Dialog } from '../../ui/dialog'
import { Field } from '../../ui/field'
import { recorded } from './columns'

/** Orders are what a person can do about a task that is open: say something to its executor, or end it. */
export function Orders({ quest, task, again }: { quest: string; task: TaskDetail; again: () => void }) {
  const [shown, setShown] = useState<TaskOrder['action']>()
  const [said, setSaid] = useState('')
  const done = (text: string) => {
    setSaid(text)
    setShown(undefined)
    again()
  }
  const open = (action: TaskOrder['action']) => {
    setSaid('')
    setShown(action)
  }
  return (
    <>
      <div className="row" role="group" aria-label={flat(`Orders about ${task.id}`)}>
        <button className="button small" onClick={() => open('message')}>Send a message</button>
        <button className="button small danger" onClick={() => open('cancel')}>Cancel the task</button>
      </div>
      {said && <p className="note good" role="status">{said}</p>}
      {shown && <Order quest={quest} task={task.id} action={shown} onDone={done} onClose={() => setShown(undefined)} />}
    </>
  )
}

type Props = { quest: string; task: string; action: TaskOrder['action']; onDone: (said: string) => void; onClose: () => void }

function Order({ quest, task, action, onDone, onClose }: Props) {
  const [text, setText] = useState('')
  const [busy, setBusy] = useState(false)
  const [wrong, setWrong] = useState('')
  const word = text.trim()
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    setBusy(true)
    setWrong('')
    try {
      const { running } = await orderTask(quest, task, action === 'cancel' ? { action } : { action, text: word })
      onDone(recorded(action, running))
    } catch (error) {
      setBusy(false)
      setWrong(error instanceof Error ? error.message : String(error))
    }
  }
  return (
    <Dialog title={flat(action === 'cancel' ? `Cancel ${task}?` : `To whoever works on ${task}`)} onClose={onClose}>
      <form className="stack" onSubmit={(e) => void submit(e)} aria-busy={busy || undefined}>
        {action === 'cancel'
          ? <p>Whoever works on <b className="mono">{visible(task)}</b> is stopped, and nothing of it is taken over. It cannot be begun again.</p>
          : <Field label="Message"><textarea value={text} rows={4} maxLength={8192} disabled={busy} onChange={(e) => setText(e.target.value)} /></Field>}
        {wrong && <p className="note bad" role="alert"><Words>{wrong}</Words></p>}
        <div className="actions">
          <button type="button" className="button" onClick={onClose}>{action === 'cancel' ? 'Let it be' : 'Close'}</button>
          {action === 'cancel' ? <button className="button danger" disabled={busy}>Cancel it</button>
            : <button className="button first" disabled={busy || word === ''}>Send</button>}
        </div>
      </form>
    </Dialog>
  )
}
