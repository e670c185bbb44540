import { useEffect, useState, type ReactNode } from 'react'
import { blobLink, blobPath, getBytes } from '../../api/client'
import type { Ref, Text } from '../../api/types'
import { Code } from '../../text/code'
import { visible } from '../../text/plain'
import { bytes } from '../../ui/show'

/** useBlob reads the first bytes of a blob as text; cut says that there are more. */
export function useBlob(ref: Ref | undefined, most: number): { text?: string; cut: boolean; wrong?: string } {
  const [held, setHeld] = useState<{ hash: string; text?: string; wrong?: string }>()
  const hash = ref?.hash
  useEffect(() => {
    if (!hash) return
    const stop = new AbortController()
    getBytes(blobPath(hash), stop.signal).then(
      (data) => setHeld({ hash, text: new TextDecoder().decode(new Uint8Array(data).subarray(0, most)) }),
      (error: unknown) => { if (!stop.signal.aborted) setHeld({ hash, wrong: error instanceof Error ? error.message : String(error) }) },
    )
    return () => stop.abort()
  }, [hash, most])
  const now = held?.hash === hash ? held : undefined
  return { text: now?.text, wrong: now?.wrong, cut: (ref?.size ?? 0) > most }
}

const most = 256 * 1024

/** Told shows a text, wherever it stands. */
export function Told({ text, code }: { text: Text; code?: string }) {
  const whole = useBlob(text.ref && text.ref.size <= most ? text.ref : undefined, most)
  const shown = whole.text ?? text.text
  if (shown === undefined) return text.ref ? <p className="muted small">{whole.wrong ?? '…'}</p> : null
  return (
    <>
      {code ? <Code text={shown} language={code} /> : <p className="told">{visible(shown)}</p>}
      {text.ref && text.ref.size > most && <a className="small" href={blobLink(text.ref.hash, 'text.txt')}>all of it, {bytes(text.ref.size)}</a>}
    </>
  )
}

/** Raw is a log as it was written, read when somebody opens it. */
export function Raw({ log, name, children }: { log: Ref; name: string; children: ReactNode }) {
  const [open, setOpen] = useState(false)
  const blob = useBlob(open ? log : undefined, most)
  return (
    <details className="raw" onToggle={(e) => setOpen(e.currentTarget.open)}>
      <summary>{children} <span className="muted num">{bytes(log.size)}</span></summary>
      {blob.wrong && <p className="note bad">{visible(blob.wrong)}</p>}
      {blob.text !== undefined && <pre className="pre" tabIndex={0}>{visible(blob.text)}</pre>}
      {blob.cut && <p className="small muted">Only its beginning is shown.</p>}
      <a className="small" href={blobLink(log.hash, name)} download={name}>download</a>
    </details>
  )
}
