import { useState } from 'react'
import { agentPath, blobLink, blobPath, getBytes, query } from '../../api/client'
import { useResource } from '../../api/resource'
import type { Tree, Versions } from '../../api/types'
import { useQuestResource } from '../../live/context'
import { go, questLink } from '../../route'
import { Code } from '../../text/code'
import { fileName, visible } from '../../text/plain'
import { MeasuredList } from '../../ui/measured'
import { bytes, clock, several } from '../../ui/show'
import { Empty, Ready } from '../../ui/states'

type Entry = Tree['entries'][number]

const most = 256 * 1024

/** Files shows an agent's home as it was after any event that changed it. */
export function Files({ quest, agent, at, path }: { quest: string; agent: string; at: number; path: string }) {
  const versions = useQuestResource<Versions>(agentPath(quest, agent, '/versions'))
  const tree = useResource<Tree>(agentPath(quest, agent, `/files${query({ at: at || undefined, path })}`), at === 0 ? (versions.data?.versions.length ?? 0) : 0)
  const to = (change: { at?: number; path?: string }) => go(questLink(quest, `agents/${agent}`, { tab: 'files', at: at || undefined, path, ...change }), true)
  const all = versions.data?.versions ?? []
  const index = at === 0 ? all.length - 1 : all.findLastIndex((v) => v.seq <= at)
  const shown = all[index]
  return (
    <div className="stack">
      {all.length > 1 && (
        <div className="row version">
          <label htmlFor="version" className="small">After event {at === 0 ? `${shown?.seq ?? ''} (now)` : at}</label>
          <input id="version" type="range" min={0} max={all.length - 1} value={Math.max(0, index)}
            aria-valuetext={shown ? `event ${shown.seq}, ${several(shown.changes, 'change')}` : ''}
            onChange={(e) => { const i = Number(e.target.value); to({ at: i === all.length - 1 ? undefined : all[i]?.seq }) }} />
          {shown && <span className="small muted num">{clock(shown.time)}, {shown.changes} changed by {shown.cause}</span>}
        </div>
      )}
      <Crumbs path={path} onGo={(p) => to({ path: p })} />
      <Ready of={tree} what="the files">{(t) => (t.empty || t.entries.length === 0 ? <Empty title="No files here" />
        : <Listing tree={t} onGo={(p) => to({ path: p })} />)}</Ready>
    </div>
  )
}

function Crumbs({ path, onGo }: { path: string; onGo: (path: string) => void }) {
  const parts = path.split('/').filter(Boolean)
  return (
    <nav className="row small mono" aria-label="Folder">
      <button className="link" onClick={() => onGo('')}>home</button>
      {parts.map((p, i) => <span key={i}>/ <button className="link" onClick={() => onGo(parts.slice(0, i + 1).join('/'))}>{visible(p)}</button></span>)}
    </nav>
  )
}

function Listing({ tree, onGo }: { tree: Tree; onGo: (path: string) => void }) {
  const [open, setOpen] = useState<Entry>()
  const below = (name: string) => (tree.path ? `${tree.path}/${name}` : name)
  return (
    <div className="split left files">
      <MeasuredList key={tree.path} own className="card flush listing" count={tree.entries.length} guess={32} label="Files" row={(n) => {
        const e = tree.entries[n]
        return e && (
          <div className="file">
            {e.kind === 'dir' ? <button className="link mono" onClick={() => onGo(below(e.name))}>{visible(e.name)}/</button>
              : e.kind === 'link' ? <span className="mono muted">{visible(e.name)} → {visible(e.target ?? '')}</span>
              : <button className="link mono" aria-pressed={open?.name === e.name} onClick={() => setOpen(e)}>{visible(e.name)}{e.executable && '*'}</button>}
            {e.kind === 'file' && <span className="small muted num">{bytes(e.size)}</span>}
          </div>
        )
      }} />
      {open?.hash ? <Content key={open.hash} entry={open} hash={open.hash} /> : <p className="muted">Choose a file.</p>}
    </div>
  )
}

function Content({ entry, hash }: { entry: Entry; hash: string }) {
  const [content, setContent] = useState<string>()
  const [asked, setAsked] = useState(false)
  const load = async () => {
    setAsked(true)
    try {
      const data = new Uint8Array(await getBytes(blobPath(hash)))
      setContent(data.subarray(0, 4096).includes(0) ? '(not a text)' : new TextDecoder().decode(data))
    } catch (error) {
      setContent(error instanceof Error ? error.message : String(error))
    }
  }
  if (!asked && entry.size <= most) void load()
  return (
    <section className="stack tight">
      <div className="row between"><h3 className="mono">{visible(entry.name)}</h3>
        <a className="small" href={blobLink(hash, fileName(entry.name))} download={fileName(entry.name)}>download</a></div>
      {entry.size > most ? <p className="muted">It is too large to show here.</p> : <Code text={content ?? '…'} language={entry.name.split('.').pop() ?? ''} />}
    </section>
  )
}
