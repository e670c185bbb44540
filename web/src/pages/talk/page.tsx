import { useLive } from '../../live/context'
import { Room } from './room'
import './talk.css'

/** Talk is the conversation of a study on a page of its own. */
export default function Talk({ name }: { name: string }) {
  const { quest } = useLive()
  return (
    <div className="page talk">
      <h2 className="hidden-label">Conversation</h2>
      {quest.data?.name === name && <Room quest={quest.data} asks />}
    </div>
  )
}
