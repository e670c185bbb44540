import { useEffect, useRef, useState } from 'react'
import type { Detail } from '../../api/types'
import { clip, firstLine, flat } from '../../text/plain'

const kept = 'lyceum-notify'

const stored = () => {
  try {
    return localStorage.getItem(kept) === 'yes'
  } catch {
    return false // a browser that keeps nothing
  }
}

const can = () => 'Notification' in window
const wants = () => can() && Notification.permission === 'granted' && stored()

function keep(yes: boolean): void {
  try {
    if (yes) localStorage.setItem(kept, 'yes')
    else localStorage.removeItem(kept)
  } catch {
    // it holds for this page
  }
}

const over: Partial<Record<Detail['status'], string>> = {
  finished: 'has its answer', completed_with_warnings: 'has its answer, with warnings', failed: 'has failed', stopped: 'was stopped',
  exceeded: 'has reached a limit', paused: 'is paused', waiting: 'waits for an answer of yours', interrupted: 'was interrupted',
}

/**
 * Notify tells somebody who looks elsewhere that a quest has come to its end. The browser is asked for leave when the button is pressed and
 * never before; what was chosen holds for all quests of this browser.
 */
export function Notify({ quest }: { quest: Detail }) {
  const [on, setOn] = useState(wants)
  const [refused, setRefused] = useState(false)
  const ran = useRef(quest.running)
  const { name, running, status, verdict, problem } = quest
  useEffect(() => {
    const ended = ran.current && !running
    ran.current = running
    const what = over[status]
    const body = flat(clip(verdict?.value ?? firstLine(problem), 140))
    if (ended && what && on && wants()) new Notification(`${name} ${what}`, { body, tag: `lyceum-${name}` })
  }, [name, running, status, on, verdict, problem])
  if (!can() || !running) return null
  const press = async () => {
    const yes = !on && (Notification.permission === 'granted' || (await Notification.requestPermission()) === 'granted')
    setRefused(!on && !yes)
    keep(yes)
    setOn(yes)
  }
  return (
    <>
      <button className="button" aria-pressed={on} onClick={() => void press()} title="A notification of this browser, when the quest has come to its end">
        {on ? '✓ Tells you at the end' : 'Tell me at the end'}</button>
      {refused && <span className="small muted" role="status">This browser does not let the page notify you: allow it in the settings of the site.</span>}
    </>
  )
}
