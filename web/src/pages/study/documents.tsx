import { useRef, useState } from 'react'
import { Failure, questPath, saveDocument } from '../../api/client'
import type { Document, Documents } from '../../api/types'
import { useQuestResource } from '../../live/context'
import { questLink } from '../../route'
import { Markdown } from '../../text/markdown'
import { visible, withoutTitle, Words, written } from '../../text/plain'
import { Field } from '../../ui/field'
import { bytes, moment, several } from '../../ui/show'
import { Ready } from '../../ui/states'

/** Papers are the documents of a study: one beside the list of all. */
export function Papers({ name, chosen }: { name: string; chosen: string }) {
  const list = useQuestResource<Documents>(questPath(name, '/documents'))
  return (
    <Ready of={list} what="the documents">{(l) => {
      const at = l.documents.find((d) => d.name === chosen)?.name ?? l.documents[0]?.name
      return (
        <div className="split left">
          <ul className="stack tight documents">{l.documents.map((d) => <li key={d.name}><a href={questLink(name, 'records', { document: d.name })}
            aria-current={d.name === at ? 'true' : undefined}>{visible(d.title)}</a> <span className="small muted">{d.name}, {bytes(d.size)}</span></li>)}</ul>
          {at && <One key={at} quest={name} name={at} />}
        </div>
      )
    }}</Ready>
  )
}

function One({ quest, name }: { quest: string; name: string }) {
  const document = useQuestResource<Document>(questPath(quest, `/documents/${encodeURIComponent(name)}`))
  const [editing, setEditing] = useState<Document>()
  const [said, setSaid] = useState('')
  return (
    <Ready of={document} what="the document">{(d) => (
      <article className="card stack" aria-label={d.title}>
        <div className="row between"><h2>{visible(d.title)}</h2>{d.editable && !editing && <button className="button small"
          onClick={() => { setSaid(''); setEditing(d) }}>Edit</button>}</div>
        {said && <p className="note" role="status">{said}</p>}
        {!editing && d.waits && <p className="note">The quest has yet to take this text: it counts when the quest goes on.</p>}
        {!editing && d.reason && <p className="small muted">People do not write it: {visible(d.reason)}.</p>}
        {d.truncated && <p className="note warn">This is its beginning, of {bytes(d.size)}. All of it is in the file {visible(d.name)} of the quest’s
          folder.</p>}
        {editing ? <Editor quest={quest} from={editing} now={d} again={document.again}
          onClose={(words) => { setEditing(undefined); setSaid(words); document.again() }} />
          : d.name.endsWith('.md') ? <Markdown text={withoutTitle(written(d.text), d.title)} /> : <pre className="pre" tabIndex={0}>{visible(d.text)}</pre>}
        {d.revisions.length > 1 && <details><summary>{several(d.revisions.length, 'revision')}</summary>
          <ol className="moves small">{d.revisions.map((r) => <li key={r.seq}>
            <a className="num" href={questLink(quest, 'timeline', { seq: r.seq })}>{r.seq}</a>{' '}<Words>{r.by}</Words>, {moment(r.time)}, {bytes(r.size)}
            {r.revision === d.revision && ', as it is now'}</li>)}</ol></details>}
      </article>
    )}</Ready>
  )
}

const once = () => Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, '0')).join('')

// What somebody else saved meanwhile is not written over: it is said, and their words stay to be copied.
function Editor({ quest, from, now, again, onClose }: { quest: string; from: Document; now: Document; again: () => void; onClose: (said: string) => void }) {
  const [text, setText] = useState(from.text)
  const [key] = useState(once)
  const [wrong, setWrong] = useState('')
  const [busy, setBusy] = useState(false)
  const edition = useRef(0) // another text is another save
  const stale = now.revision !== from.revision
  const save = async () => {
    setBusy(true)
    setWrong('')
    try {
      const { message } = await saveDocument(quest, from.name, { text, revision: from.revision, key: `${key} ${edition.current}` })
      onClose(message ? 'Saved: the researcher hears of it.' : 'Kept: it counts when the quest goes on, and the researcher hears of it then.')
    } catch (error) {
      setWrong(error instanceof Failure ? error.message : String(error))
      setBusy(false)
      again()
    }
  }
  return (
    <form className="stack tight" onSubmit={(e) => { e.preventDefault(); void save() }} aria-busy={busy || undefined}>
      <Field label="Text" hint="Markdown. It is a message to the researcher: a study that waits goes on with it.">
        <textarea rows={16} value={text} onChange={(e) => { edition.current++; setText(e.target.value) }} />
      </Field>
      {stale && <div className="note warn stack tight" role="status">
        <p>It was changed since you began. Copy what you wrote, and begin again from what is there now:</p>
        <pre className="pre" tabIndex={0}>{visible(now.text)}</pre></div>}
      {wrong && <p className="note bad" role="alert"><Words>{wrong}</Words></p>}
      <div className="row"><button type="button" className="button" onClick={() => onClose('')}>Leave it</button>
        <button className="button first" disabled={busy || text === from.text || text.trim() === ''}>Save</button></div>
    </form>
  )
}
