import { useEffect, useMemo, useState } from 'react'
import { blobLink, blobPath, getBytes, query as ask, questPath } from '../../api/client'
import { useResource } from '../../api/resource'
import type { EventDetail, Recorded, Ref, Tree } from '../../api/types'
import { questLink } from '../../route'
import { Markdown } from '../../text/markdown'
import { visible, withoutTitle } from '../../text/plain'
import { Badge, bytes } from '../../ui/show'
import { Loading } from '../../ui/states'
import { recordWords } from '../quest/links'
import { useBlob } from '../tasks/told'
import { toneOf } from './results'

type Claim = { id: string; text: string; results?: string[] }
type Row = { item: string; holds: boolean; findings?: string[] }
// What the events of a paper and of its outline say.
type PaperBody = { outline?: string; checklist?: Row[]; tree?: Ref }
type OutlineBody = { claims?: Claim[] }

const most = 1024 * 1024

/** Paper is a paper to read, with what it claims beside the results that it rests on, and the checklist. */
export function Paper({ quest, paper, recorded }: { quest: string; paper: Recorded; recorded: Recorded[] }) {
  const event = useResource<EventDetail>(questPath(quest, `/events/${paper.seq}`))
  const body = event.data?.event.body as PaperBody | undefined
  const outline = recorded.find((r) => r.id === body?.outline)
  return (
    <div className="split paper-view">
      {body?.tree ? <Text quest={quest} tree={body.tree} title={paper.title} /> : <Loading what="the paper" />}
      <aside className="stack" aria-label="What the paper rests on">
        {outline && <Claims quest={quest} outline={outline} recorded={recorded} />}
        {body?.checklist && <Checklist rows={body.checklist} />}
      </aside>
    </div>
  )
}

// A drawing is text to the server, which hands out nothing as a picture that could hold a program. In the place of a picture no
// program of it runs, and nothing is read from elsewhere.
function useDrawings(entries: Tree['entries'] | undefined): ReadonlyMap<string, string> {
  const [drawn, setDrawn] = useState<ReadonlyMap<string, string>>(new Map())
  useEffect(() => {
    const stop = new AbortController()
    const made: string[] = []
    void Promise.all((entries ?? []).filter((e) => e.hash && e.size <= most && e.name.endsWith('.svg')).map(async ({ name, hash }) => {
      const data = await getBytes(blobPath(hash ?? ''), stop.signal).catch(() => undefined)
      if (!data || stop.signal.aborted) return []
      made.push(URL.createObjectURL(new Blob([data], { type: 'image/svg+xml' })))
      return [[name, made.at(-1) ?? '']] as [string, string][]
    })).then((all) => { if (!stop.signal.aborted) setDrawn(new Map(all.flat())) })
    return () => {
      stop.abort()
      made.forEach((url) => URL.revokeObjectURL(url))
    }
  }, [entries])
  return drawn
}

function Text({ quest, tree, title }: { quest: string; tree: Ref; title: string }) {
  const root = useResource<Tree>(`/trees/${tree.hash}`)
  const figures = useResource<Tree>(root.data?.entries.some((e) => e.name === 'figures') ? `/trees/${tree.hash}${ask({ path: 'figures' })}` : null)
  const file = root.data?.entries.find((e) => e.name === 'paper.md')
  const { text, wrong, cut } = useBlob(file?.hash ? { hash: file.hash, size: file.size } : undefined, most)
  const drawings = useDrawings(figures.data?.entries)
  const context = useMemo(() => {
    const pictures = (figures.data?.entries ?? []).flatMap(({ name, hash = '' }) => {
      const at = drawings.get(name) ?? (name.endsWith('.png') ? blobLink(hash) : '')
      return at ? [[name, at], [`figures/${name}`, at]] as [string, string][] : []
    })
    return { figures: new Map(pictures), word: recordWords(quest) }
  }, [figures.data, drawings, quest])
  const others = (root.data?.entries ?? []).filter((e) => /^paper\.(?:html|pdf|tex)$|^references\.bib$|^claims\.json$/.test(e.name))
  if (root.failure || wrong) return <p className="note bad" role="alert">{visible(wrong ?? root.failure?.message ?? '')}</p>
  if (text === undefined) return <Loading what="the paper" />
  return (
    <section className="stack" aria-label="The paper">
      <p className="row small">{others.map((e) => e.hash && <a key={e.name} href={blobLink(e.hash, e.name)} download={e.name}>{visible(e.name)},{' '}
        {bytes(e.size)}</a>)}</p>
      {cut && <p className="note warn">Only its beginning is shown.</p>}
      <Markdown text={withoutTitle(text, title)} context={context} />
    </section>
  )
}

/** Claims are what an outline says, each with the results that it follows from. */
export function Claims({ quest, outline, recorded }: { quest: string; outline: Recorded; recorded: Recorded[] }) {
  const event = useResource<EventDetail>(questPath(quest, `/events/${outline.seq}`))
  const claims = (event.data?.event.body as OutlineBody | undefined)?.claims ?? []
  return (
    <section className="stack tight" aria-labelledby="claims">
      <h3 id="claims">Claims</h3>
      <ol className="stack tight claims">{claims.map((c) => (
        <li key={c.id} className="card stack tight"><p>{visible(c.text)}</p>
          <ul className="stack tight small">{(c.results ?? []).map((id) => <Evidence key={id} quest={quest} id={id}
            record={recorded.find((r) => r.id === id)} />)}</ul>
        </li>
      ))}</ol>
    </section>
  )
}

const Evidence = ({ quest, id, record: r }: { quest: string; id: string; record?: Recorded }) => (
  <li className="row"><a href={questLink(quest, 'records', { artifact: id })}>{visible(r?.title ?? id)}</a>
    {r?.verdict && <Badge tone={toneOf(r.verdict)}>{visible(r.verdict)}</Badge>}
    {(r?.metrics ?? []).map((m) => <span key={m.name} className="num">{visible(m.name)} <b>{visible(m.value)}</b> {visible(m.unit ?? '')}</span>)}</li>
)

const Checklist = ({ rows }: { rows: Row[] }) => (
  <section className="stack tight" aria-labelledby="checklist">
    <h3 id="checklist">Checklist</h3>
    <ul className="stack tight">{rows.map((r) => (
      <li key={r.item} className="stack tight small">
        <span className="row"><Badge tone={r.holds ? 'good' : 'bad'}>{r.holds ? 'holds' : 'fails'}</Badge>{visible(r.item)}</span>
        {(r.findings ?? []).map((f, i) => <span key={i} className="muted">{visible(f)}</span>)}</li>
    ))}</ul>
  </section>
)
