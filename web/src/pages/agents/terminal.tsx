import { useCallback, useRef, useState } from 'react'
import { blobLink } from '../../api/client'
import { useSerial } from '../../api/serial'
import { useLive } from '../../live/context'
import { visible } from '../../text/plain'
import { MeasuredList } from '../../ui/measured'
import { bytes } from '../../ui/show'
import { Empty, Loading } from '../../ui/states'
import type { Scroller } from '../../ui/virtual'
import { Log, type Line, type Stretch } from './log'

const near = 40

/** TerminalLog is what happened in an agent's computer, as a terminal would show it; all of it, or behind one event and up to another. */
export function TerminalLog({ quest, agent, from = 0, to }: { quest: string; agent: string; from?: number; to?: number }) {
  const { snapshot } = useLive()
  const [at, setAt] = useState<Stretch>()
  const [wrong, setWrong] = useState('')
  const [wish, setWish] = useState(0)
  const log = useRef<Log>(undefined)
  const side = useRef<'earlier' | 'later' | 'tail'>(undefined)
  const list = useRef<Scroller>(null)
  useSerial(async (gone) => {
    log.current ??= new Log(quest, agent, from, to)
    // Unasked, what is new is put behind the end, but not while that is out of sight.
    const want = side.current ?? (log.current.at?.end === false ? undefined : 'later')
    side.current = undefined
    try {
      if (want) await log.current[want](gone)
      setAt(log.current.at)
      setWrong('')
    } catch (error) {
      if (!gone.aborted) setWrong(error instanceof Error ? error.message : String(error))
    }
  }, `${quest}/${agent}`, snapshot.version + wish)
  const need = useCallback((first: number, last: number) => {
    const held = log.current?.at
    if (!held) return
    const up = !held.whole && first - held.base < near
    if (!up && (held.end || held.base + held.lines.length - last > near)) return
    side.current = up ? 'earlier' : 'later'
    setWish((n) => n + 1)
  }, [])
  const newest = () => {
    if (at?.end) return list.current?.end()
    side.current = 'tail'
    setWish((n) => n + 1)
    list.current?.end()
  }
  if (wrong && !at) return <p className="note bad" role="alert">{wrong}</p>
  if (!at) return <Loading what="the terminal" />
  if (at.lines.length === 0) return <Empty title="Its computer has not run anything" />
  return (
    <div className="stack tight">
      <MeasuredList ref={list} own className="terminal" first={at.base} count={at.lines.length} guess={22} follow label={`Terminal of ${agent}`} onRange={need}
        row={(n) => { const line = at.lines[n - at.base]; return line && <One line={line} /> }} />
      <div className="row between small muted">
        <span>{at.whole ? 'From its first command' : 'Scroll up for what came before'}</span>
        <button className="button small" onClick={newest}>Newest</button>
      </div>
      {wrong && <p className="note bad" role="alert">{wrong}</p>}
    </div>
  )
}

function One({ line }: { line: Line }) {
  const text = line.kind === 'run' ? line.text.replace(/^sh -c /, '') : line.kind === 'exit'
    ? (line.exit === undefined ? line.text : `exit ${line.exit}`) : line.text
  return (
    <div className={`tline ${line.kind} ${line.kind === 'exit' && line.exit ? 'failed' : ''}`}>
      {line.kind === 'run' && <span className="prompt" aria-hidden="true">$ </span>}
      {visible(text.replace(/\n$/, ''))}
      {line.ref && <> <a href={blobLink(line.ref.hash, 'output.txt')}>all {bytes(line.ref.size)}</a></>}
    </div>
  )
}
