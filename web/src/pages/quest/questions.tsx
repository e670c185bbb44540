import { useEffect, useRef, useState, type FormEvent } from 'react'
import { answer, Failure } from '../../api/client'
import type { Answer, Detail, Question } from '../../api/types'
import { useLive } from '../../live/context'
import { questLink } from '../../route'
import { Words } from '../../text/plain'
import { Field } from '../../ui/field'
import { Badge, moment } from '../../ui/show'

/** Questions are what the quest asks people, the oldest first. They come and go with its events. */
export function Questions({ quest }: { quest: Detail }) {
  const { questions, name } = quest
  const [said, setSaid] = useState('')
  const section = useRef<HTMLElement>(null)
  const answered = useRef(false)
  const ids = questions.map((q) => q.id).join()
  // Whoever has answered goes on with the next question, and not from the top of the page.
  useEffect(() => {
    if (!answered.current) return
    answered.current = false
    const next = section.current?.querySelector<HTMLElement>('h2') ?? document.getElementById('main')
    if (document.activeElement === document.body) next?.focus({ preventScroll: next.id === 'main' })
  }, [ids])
  const open = questions.filter((q) => !q.answered).length
  return (
    <>
      <p className="hidden-label" role="status">{open > 0 && `${open === 1 ? 'A question waits' : `${open} questions wait`} for an answer.`}</p>
      {said && <p className="note said" role="status"><Words>{said}</Words> <button className="link" onClick={() => setSaid('')}>Close</button></p>}
      {questions.length > 0 && (
        <section className="stack questions" aria-label="Questions to you" ref={section}>
          {questions.map((q) => <One key={q.id} quest={name} question={q} onSaid={(text) => { setSaid(text); answered.current = true }} />)}
        </section>
      )}
    </>
  )
}

// What a proposal is called where it has a name among people.
const proposals: Record<string, string> = { 'model.call': 'a turn', 'tool.call': 'a tool call', 'quest.finished': 'an answer' }

function One({ quest, question: q, onSaid }: { quest: string; question: Question; onSaid: (text: string) => void }) {
  const policies = q.policies ?? []
  return (
    <article className="card stack tight question" aria-labelledby={`question-${q.id}`}>
      <div className="row between">
        <h2 id={`question-${q.id}`} tabIndex={-1}>
          {q.proposal ? <>May <Asker quest={quest} name={q.asker} /> do this?</> : <><Asker quest={quest} name={q.asker} /> asks</>}
        </h2>
        <span className="row small muted">
          {q.proposal && <Badge>{proposals[q.proposal] ?? q.proposal}</Badge>}
          {!q.blocking && <span>goes on meanwhile</span>}
          <a href={questLink(quest, 'timeline', { seq: q.id })}>question {q.id}</a>
        </span>
      </div>
      <p className="asked"><Words>{q.question}</Words></p>
      {policies.length > 0 && <p className="small muted">
        Asked for by the {policies.length === 1 ? 'policy' : 'policies'} {policies.join(', ')}. A yes holds for this once.</p>}
      {q.answered ? <p className="note">It has an answer. The quest goes on from it once it runs.</p> : <Reply quest={quest} question={q} onSaid={onSaid} />}
      {q.expires && <p className="small muted">If nobody answers by <time dateTime={q.expires}>{moment(q.expires)}</time>:{' '}
        {q.default ? <b><Words>{q.default}</Words></b> : 'it goes on without an answer'}.</p>}
    </article>
  )
}

// core is no agent, and has no page.
const Asker = ({ quest, name }: { quest: string; name: string }) => (
  name === 'core' ? <>the quest</> : <a href={questLink(quest, `agents/${name}`)}>{name}</a>
)

/** Reply takes the answer: an option, words, or an option and a word with it. */
function Reply({ quest, question: q, onSaid }: { quest: string; question: Question; onSaid: (text: string) => void }) {
  const { quest: resource } = useLive()
  const [text, setText] = useState('')
  const [busy, setBusy] = useState(false)
  const [wrong, setWrong] = useState('')
  const send = async (reply: Omit<Answer, 'question'>) => {
    setBusy(true)
    setWrong('')
    try {
      const { running } = await answer(quest, { question: q.id, ...reply })
      onSaid(running ? '' : 'Recorded. Nobody runs the quest: it goes on when it is started.')
      resource.again()
    } catch (error) {
      setBusy(false)
      if (error instanceof Failure && error.status === 409) {
        onSaid(`Question ${q.id} is not open any more: somebody else may have answered it, or its time was up.`)
        resource.again()
      } else setWrong(error instanceof Error ? error.message : String(error))
    }
  }
  const word = text.trim() || undefined
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (word && !q.proposal) void send({ text: word })
  }
  const label = q.proposal ? 'A word with it' : q.options.length > 0 ? 'Or in your own words' : 'Your answer'
  return (
    <form className="stack tight" onSubmit={submit} aria-busy={busy || undefined}>
      {q.options.length > 0 && (
        <div className="row" role="group" aria-label={`Answers to question ${q.id}`}>
          {q.options.map((option, i) => (
            <button key={i} type="button" className="button option" disabled={busy} onClick={() => void send({ choice: option, text: word })}>
              <Words>{option}</Words></button>
          ))}
        </div>
      )}
      <Field label={label} hint={q.proposal ? 'if you like: the reason of a no, say' : undefined}>
        <textarea className="brief" rows={q.options.length > 0 ? 1 : 3} value={text} maxLength={8192} disabled={busy}
          onChange={(e) => setText(e.target.value)} />
      </Field>
      {wrong && <p className="note bad" role="alert"><Words>{wrong}</Words></p>}
      {!q.proposal && <div><button className="button first" disabled={busy || !word}>Send</button></div>}
    </form>
  )
}
