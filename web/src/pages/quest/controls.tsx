import { useState } from 'react'
import { control, Failure, remove } from '../../api/client'
import type { Control, Detail } from '../../api/types'
import { useLive } from '../../live/context'
import { go } from '../../route'
import { Dialog } from '../../ui/dialog'
import { Fork } from './fork'
import { Raise } from './limits'
import { Message } from './message'
import { Notify } from './notify'

type Action = 'start' | 'pause' | 'resume' | 'stop'

// What can be ordered depends on how the quest stands; the server has the last word.
function offered(quest: Detail): Action[] {
  switch (quest.status) {
    case 'running': return ['pause', 'stop']
    // This server goes on with it by itself if it is the one that looks after it.
    case 'waiting': return quest.held_here || quest.held ? ['pause', 'stop'] : ['start', 'stop']
    case 'paused': return ['resume', 'stop']
    case 'created': case 'stopped': case 'exceeded': case 'interrupted': case 'failed': return ['start']
    default: return []
  }
}

// A society has nothing more to do in any mode then.
const ended = (quest: Detail) => ['finished', 'completed_with_warnings', 'damaged', 'other_rules'].includes(quest.status)

const labels: Record<Action, string> = { start: 'Start', pause: 'Pause', resume: 'Resume', stop: 'Stop' }

/** Controls are the orders that a person can give a quest. */
export function Controls({ quest }: { quest: Detail }) {
  const { quest: resource, now } = useLive()
  const [open, setOpen] = useState<'fork' | 'limits' | 'message' | 'remove' | ''>('')
  const [busy, setBusy] = useState('')
  const [said, setSaid] = useState('')
  const order = async (wanted: { action: Action } | { action: 'mode'; mode: string }) => {
    if (quest.status === 'exceeded' && wanted.action === 'start') return setOpen('limits')
    setBusy(wanted.action)
    setSaid('')
    try {
      const { told } = await control(quest.name, wanted satisfies Control)
      if (told) setSaid('The process that runs it was told.')
      resource.again()
      now()
    } catch (error) {
      setSaid(error instanceof Failure ? error.message : String(error))
    }
    setBusy('')
  }
  const close = () => setOpen('')
  return (
    <>
      <div className="controls">
        {offered(quest).map((action, i) => (
          <button key={action} className={i === 0 ? 'button first' : 'button'} disabled={busy !== ''} onClick={() => void order({ action })}>
            {labels[action]}</button>
        ))}
        <button className="button" onClick={() => setOpen('message')}>Message</button>
        <button className="button" onClick={() => setOpen('fork')}>Fork</button>
        {quest.status === 'running' && <button className="button" onClick={() => setOpen('limits')}>Limits</button>}
        <Notify quest={quest} />
        {quest.modes.length > 1 && !ended(quest) && (
          <label className="mode" title={quest.modes.find((mode) => mode.id === quest.mode)?.about}>Mode
            <select value={quest.mode} disabled={busy !== ''} onChange={(e) => void order({ action: 'mode', mode: e.target.value })}>
              {quest.modes.map((mode) => <option key={mode.id} value={mode.id} title={mode.about}>{mode.name}</option>)}
            </select>
          </label>
        )}
        {!quest.held && <button className="button danger" onClick={() => setOpen('remove')}>Remove</button>}
      </div>
      {said && <p className="note warn said" role="status">{said} <button className="link" onClick={() => setSaid('')}>Close</button></p>}
      {open === 'fork' && <Fork quest={quest.name} at={0} head={quest.events} onClose={close} />}
      {open === 'limits' && <Raise quest={quest} onClose={close} onDone={() => { resource.again(); now() }} />}
      {open === 'message' && <Message quest={quest} onClose={close} />}
      {open === 'remove' && <Remove quest={quest.name} onClose={close} />}
    </>
  )
}

function Remove({ quest, onClose }: { quest: string; onClose: () => void }) {
  const [wrong, setWrong] = useState('')
  const really = async () => {
    try {
      await remove(quest)
      go('#/')
    } catch (error) {
      setWrong(error instanceof Failure ? error.message : String(error))
    }
  }
  return (
    <Dialog title={`Remove ${quest}?`} onClose={onClose}>
      <p>The quest goes with its ledger, papers and workspaces. Nothing brings it back; lyceum export makes a copy first.</p>
      {wrong && <p className="note bad" role="alert">{wrong}</p>}
      <div className="actions">
        <button className="button" onClick={onClose}>Keep it</button>
        <button className="button danger" onClick={() => void really()}>Remove it</button>
      </div>
    </Dialog>
  )
}
