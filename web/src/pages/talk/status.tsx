import type { Conversation, Detail } from '../../api/types'
import { useLive } from '../../live/context'
import { questLink } from '../../route'
import { clip, visible, Words } from '../../text/plain'
import { money, price, questions, several, StatusBadge, When } from '../../ui/show'
import { doingNow } from '../quest/team'

/** Status is how a study stands, in a few lines: what it does, what it waits for, what it has used. */
export function Status({ quest, talk }: { quest: Detail; talk: Conversation }) {
  const { snapshot } = useLive()
  const { sitting } = talk
  return (
    <dl className="facts status-facts">
      <dt>state</dt><dd className="row"><StatusBadge status={quest.status} />{quest.reason && <span><Words>{quest.reason}</Words></span>}</dd>
      <dt>waits for</dt><dd>{waitsFor(quest)}</dd>
      <dt>stage</dt><dd>{visible(talk.stage || 'not begun')}</dd>
      {sitting && <><dt>sitting</dt><dd>{sitting.number}, by the skill {visible(sitting.skill)}, {sitting.under_way ? 'under way' : 'ended'}</dd></>}
      {quest.team.map((a) => {
        const doing = doingNow(a.doing, quest.running)
        return <Doer key={a.name} quest={quest.name} name={a.name} kind={doing.kind} what={doing.command ?? doing.tool ?? doing.reason ?? ''} />
      })}
      <dt>used</dt><dd className="num">{several(quest.turns, 'turn')}, {price(quest.cost_usd, quest.cost_at_least_usd)}
        {quest.limits.cost_usd !== undefined && ` of ${money(quest.limits.cost_usd)}`}</dd>
      <dt>last event</dt><dd><a className="num" href={questLink(quest.name, 'timeline', { seq: Math.max(snapshot.head, quest.events) })}>
        {Math.max(snapshot.head, quest.events)}</a>, <When time={quest.updated} /></dd>
    </dl>
  )
}

const Doer = ({ quest, name, kind, what }: { quest: string; name: string; kind: string; what: string }) => (
  <><dt><a href={questLink(quest, `agents/${name}`)}>{visible(name)}</a></dt>
    <dd>{kind}{what && <> <span className="mono">{visible(clip(what, 120))}</span></>}</dd></>
)

/** waitsFor says who has the next word. */
export function waitsFor(quest: Pick<Detail, 'open_questions' | 'status' | 'running'>): string {
  if (quest.open_questions > 0) return `you: ${questions(quest.open_questions)}`
  switch (quest.status) {
    case 'waiting': return 'a word of yours'
    case 'created': return 'somebody to start it'
    case 'paused': return 'somebody to resume it'
    case 'finished': case 'completed_with_warnings': return 'nothing: it has its answer; a message takes it up again'
    case 'stopped': case 'exceeded': case 'interrupted': case 'failed': return 'somebody to start it again'
    default: return quest.running ? 'nothing: it is at work' : 'nothing'
  }
}
