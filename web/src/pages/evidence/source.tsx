import { useMemo } from 'react'
import { blobLink } from '../../api/client'
import type { Evidence } from '../../api/types'
import { questLink } from '../../route'
import { sha256 } from '../../text/hash'
import { visible } from '../../text/plain'
import { useVerdict, Verified } from '../../ui/verified'
import { cited } from './cited'

type Data = Evidence['sources'][number]

/** Source shows a paragraph or an output, with the words of the claim marked and its hash computed here. */
export function Source({ source, claim, quest }: { source: Data; claim: string; quest: string }) {
  const text = source.text ?? source.snippet ?? ''
  const pieces = useMemo(() => cited(claim, text), [claim, text])
  const verdict = useVerdict(source.sha256, () => sha256(text), `${source.source}/${source.sha256}/${text.length}`)
  return (
    <section className="card stack tight source" aria-label={`Source ${source.source}`}>
      <h3>[{source.source}] {source.kind === 'paragraph' ? <>{visible(source.title || source.doc || '')}</> : <>Output of {source.program}</>}</h3>
      <p className="small muted">
        {source.kind === 'paragraph' ? <>{visible(source.doc ?? '')}, paragraph {source.paragraph}
          {source.relevance_billionths !== undefined && `, relevance ${(source.relevance_billionths / 1e9).toFixed(2)}`}</>
          : <>ran by {source.engine}: <code>{source.command}</code></>}
        {' · '}<a href={questLink(quest, 'timeline', { seq: source.seq })}>event {source.seq}</a>
      </p>
      {source.broken && <p className="note bad">{visible(source.broken)}</p>}
      <blockquote className={source.kind === 'computation' ? 'quoted mono' : 'quoted'} tabIndex={0}>
        {pieces.map((p, i) => (p.marked ? <mark key={i}>{visible(p.text)}</mark> : <span key={i}>{visible(p.text)}</span>))}
      </blockquote>
      {source.plots?.map((svg, i) => <img key={i} className="plot" alt={`Plot ${i + 1} of ${source.program ?? 'the program'}`}
        src={`data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`} />)}
      <Verified hash={source.sha256} verdict={verdict} of="these words" />
      {source.code_sha256 && <p className="small">program: <a className="mono"
        href={blobLink(source.code_sha256, `${source.program ?? 'program'}.txt`)}>{source.code_sha256.slice(0, 16)}…</a></p>}
    </section>
  )
}
