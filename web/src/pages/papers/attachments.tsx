import { useState } from 'react'
import { blobLink, blobPath, getBytes } from '../../api/client'
import type { Attachment } from '../../api/types'
import { Code } from '../../text/code'
import { sha256 } from '../../text/hash'
import { fileName, flat, visible } from '../../text/plain'
import { Badge, bytes } from '../../ui/show'

const text = /\.(?:txt|md|sh|py|awk|csv|json|ya?ml|go|js|ts|c|r|tex|log|diff|lean|html?|svg|xml)$|^[^.]+$/i
const picture = /\.(?:png|jpe?g|gif|webp)$/i
const most = 512 * 1024

/** Attachments lists files, and shows those that are text; a hash is checked when one is opened. */
export function Attachments({ attachments }: { attachments: Attachment[] }) {
  return (
    <section className="card stack tight">
      <h3>Attachments</h3>
      <ul className="stack tight">{attachments.map((a) => <One key={a.name} file={a} />)}</ul>
    </section>
  )
}

function One({ file }: { file: Attachment }) {
  const [shown, setShown] = useState<{ content: string; same: boolean } | string>()
  const open = async () => {
    if (shown !== undefined) return setShown(undefined)
    try {
      const data = await getBytes(blobPath(file.hash))
      setShown({ content: new TextDecoder().decode(data), same: (await sha256(data)) === file.hash })
    } catch (error) {
      setShown(error instanceof Error ? error.message : String(error))
    }
  }
  return (
    <li className="stack tight">
      <div className="row small">
        <span className="mono attachment">{visible(file.name)}</span>
        {file.entrypoint && <Badge>entry point</Badge>}
        <span className="muted">{bytes(file.size)}</span>
        {text.test(file.name) && file.size <= most && <button className="link" aria-expanded={shown !== undefined} onClick={() => void open()}>
          {shown === undefined ? 'show' : 'hide'}</button>}
        <a href={blobLink(file.hash, fileName(file.name))} download={fileName(file.name)}>download</a>
      </div>
      {picture.test(file.name) && <img className="attached" src={blobLink(file.hash)} alt={flat(`attachment ${file.name}`)} loading="lazy" />}
      {typeof shown === 'string' && <p className="note bad">{shown}</p>}
      {typeof shown === 'object' && (
        <>
          <Code text={shown.content} language={file.name.split('.').pop() ?? ''} />
          <span className={shown.same ? 'hash good' : 'hash bad'}>{shown.same ? '✓' : '✗'} sha256 {file.hash.slice(0, 16)}… {shown.same
            ? 'computed here: the same' : 'computed here: another. It was changed.'}</span>
        </>
      )}
    </li>
  )
}
