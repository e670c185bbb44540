import { useState, type ReactNode } from 'react'
import { questPath } from '../../api/client'
import type { Conversation, Detail, Document } from '../../api/types'
import { useQuestResource } from '../../live/context'
import { Markdown } from '../../text/markdown'
import { withoutTitle, written } from '../../text/plain'
import { Empty, Ready } from '../../ui/states'
import { Questions } from '../quest/questions'
import { Chat, useTalk } from './chat'
import { Say } from './say'
import { Status } from './status'
import { Track } from './track'

type Part = 'chat' | 'plan' | 'status'
const parts: [Part, string][] = [['chat', 'Chat'], ['plan', 'Plan'], ['status', 'Status']]

/** Room is where one talks with a study: what it asks, where it stands, what was said, and a field for words. asks: it shows what is asked. */
export function Room({ quest, asks }: { quest: Detail; asks: boolean }) {
  const talk = useTalk(quest.name)
  const [part, setPart] = useState<Part>('chat')
  return (
    <div className="room">
      {asks && <Questions quest={quest} />}
      <Ready of={talk} what="the conversation">{(c) => (c.total === 0
        ? <Empty title="No conversation">Only a study has one: its agents hear what is said in their next turn.</Empty>
        : (
          <>
            <Track quest={quest.name} talk={c} />
            <div className="tabs" role="tablist" aria-label="Parts of the conversation">
              {parts.map(([id, label]) => <button key={id} role="tab" id={`room-${id}`} aria-selected={part === id} aria-controls="room-part"
                onClick={() => setPart(id)}>{label}</button>)}
            </div>
            <Panel part={part}>{content(part, quest, c, talk.again)}</Panel>
            {part === 'chat' && <Say quest={quest} again={talk.again} />}
          </>
        ))}</Ready>
    </div>
  )
}

const Panel = ({ part, children }: { part: Part; children: ReactNode }) => (
  <div className="room-part" id="room-part" role="tabpanel" aria-labelledby={`room-${part}`}>{children}</div>
)

function content(part: Part, quest: Detail, talk: Conversation, again: () => void): ReactNode {
  switch (part) {
    case 'chat': return <Chat quest={quest.name} total={talk.total} again={again} />
    case 'plan': return <Plan quest={quest.name} />
    default: return <Status quest={quest} talk={talk} />
  }
}

// The plan is a document of the study: the stages, what each needs, and how it came where it is.
function Plan({ quest }: { quest: string }) {
  const plan = useQuestResource<Document>(questPath(quest, '/documents/plan.md'))
  return <Ready of={plan} what="the plan">{(d) => <Markdown text={withoutTitle(written(d.text), d.title)} />}</Ready>
}
