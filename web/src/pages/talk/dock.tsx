import { useState } from 'react'
import type { Detail } from '../../api/types'
import { questLink } from '../../route'
import { clip, firstLine, Words } from '../../text/plain'
import { useMedia } from '../../ui/media'
import { Questions } from '../quest/questions'
import { useTalk } from './chat'
import { Room } from './room'
import './talk.css'

const place = 'lyceum-dock'

/**
 * Dock is the conversation of a study beside all its other pages. Where there is no room for it, it is a line that leads
 * there. asks: what is asked stands here, for the page beside it does not show it.
 */
export default function Dock({ quest, asks }: { quest: Detail; asks: boolean }) {
  const wide = useMedia('(min-width: 1100px)')
  const [open, setOpen] = useState(() => localStorage.getItem(place) !== 'closed')
  const put = (to: boolean) => {
    setOpen(to)
    if (to) localStorage.removeItem(place)
    else localStorage.setItem(place, 'closed')
  }
  if (!wide) return <Line quest={quest} asks={asks} />
  return (
    <aside className={open ? 'dock' : 'dock closed'} aria-label="Conversation">
      <div className="row between">
        {open && <h2><a href={questLink(quest.name, 'talk')}>Conversation</a></h2>}
        <button className="button small quiet" aria-expanded={open} onClick={() => put(!open)}>{open ? 'Hide' : 'Talk'}</button>
      </div>
      {open && <Room quest={quest} asks={asks} />}
      {!open && asks && quest.open_questions > 0 && <p className="badge asks" title="A question waits">{quest.open_questions}</p>}
    </aside>
  )
}

// On a phone: what is asked, and the last word.
function Line({ quest, asks }: { quest: Detail; asks: boolean }) {
  const talk = useTalk(quest.name)
  const last = talk.data?.utterances.at(-1)
  return (
    <aside className="dock line" aria-label="Conversation">
      {asks && <Questions quest={quest} />}
      <p className="row small">
        {talk.data?.stage && <span className="badge">{talk.data.stage}</span>}
        {last && <span className="clip muted"><b><Words>{last.by}</Words></b> <Words>{clip(firstLine(last.text), 120)}</Words></span>}
        <a href={questLink(quest.name, 'talk')}>Talk</a>
      </p>
    </aside>
  )
}
