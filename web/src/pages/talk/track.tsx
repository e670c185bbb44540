import type { Conversation } from '../../api/types'
import { questLink } from '../../route'
import { flat, visible, Words } from '../../text/plain'

/** Track is the stages of a study, the present one marked, and why it came from one to the other. */
export function Track({ quest, talk }: { quest: string; talk: Conversation }) {
  const { stage, stages, moves, sitting } = talk
  const last = moves.at(-1)
  const reason = new Map(moves.map((m) => [m.to, m.reason]))
  const been = new Set([...moves.flatMap((m) => [m.from, m.to])])
  return (
    <section className="stages" aria-label="Stages">
      <ol className="track">
        {stages.map((s) => <li key={s} className={been.has(s) ? 'been' : ''} aria-current={s === stage ? 'step' : undefined}
          title={reason.has(s) ? flat(reason.get(s) ?? '') : undefined}>{visible(s)}</li>)}
      </ol>
      <p className="small muted">
        {sitting && <>Sitting {sitting.number} {sitting.under_way ? 'goes on' : 'has ended'}, by the skill {visible(sitting.skill)}. </>}
        {last && <>Came here because: <Words>{last.reason}</Words></>}
      </p>
      {moves.length > 0 && (
        <details><summary>How it came here</summary>
          <ol className="moves small">
            {moves.map((m) => (
              <li key={m.seq}><a className="num" href={questLink(quest, 'timeline', { seq: m.seq })}>{m.seq}</a>{' '}
                {visible(m.from)} → <b>{visible(m.to)}</b>, {m.person ? 'by a person' : <>by <Words>{m.by}</Words></>}: <Words>{m.reason}</Words>
                {m.because && <span className="muted"> rests on {visible(m.because.join(', '))}</span>}</li>
            ))}
          </ol>
        </details>
      )}
    </section>
  )
}
