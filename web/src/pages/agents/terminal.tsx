import { useEffect, useRef, useState } from 'react'
import { agentPath, blobLink, get } from '../../api/client'
import { useSerial } from '../../api/serial'
import type { Terminal } from '../../api/types'
import { useLive } from '../../live/context'
import { visible } from '../../text/plain'
import { bytes } from '../../ui/show'
import { Empty, Loading } from '../../ui/states'

type Line = Terminal['lines'][number]

const size = 500
const most = 4000

/** TerminalLog is what happened in an agent's computer, as a terminal would show it. */
export function TerminalLog({ quest, agent }: { quest: string; agent: string }) {
  const { snapshot } = useLive()
  const [lines, setLines] = useState<Line[]>()
  const [wrong, setWrong] = useState('')
  const last = useRef(-1)
  const box = useRef<HTMLDivElement>(null)
  useSerial(async (gone) => {
    try {
      for (;;) {
        const where = last.current < 0 ? `tail=${size}` : `after=${last.current}&limit=${size}`
        const page = await get<Terminal>(agentPath(quest, agent, `/terminal?${where}`), gone)
        const first = last.current < 0
        last.current = Math.max(0, last.current, page.lines.at(-1)?.seq ?? 0)
        setLines((held) => (first ? page.lines : [...(held ?? []), ...page.lines].slice(-most)))
        if (first || page.lines.length < size) break
      }
      setWrong('')
    } catch (error) {
      if (!gone.aborted) setWrong(error instanceof Error ? error.message : String(error))
    }
  }, `${quest}/${agent}`, snapshot.version)
  useEffect(() => { if (box.current) box.current.scrollTop = box.current.scrollHeight }, [lines])
  if (wrong && !lines) return <p className="note bad">{wrong}</p>
  if (!lines) return <Loading what="the terminal" />
  if (lines.length === 0) return <Empty title="Its computer has not run anything" />
  return <div className="terminal" ref={box} tabIndex={0} role="log" aria-label={`Terminal of ${agent}`}>{lines.map((l, i) => <One key={`${l.seq}-${i}`} line={l} />)}</div>
}

function One({ line }: { line: Line }) {
  const text = line.kind === 'run' ? line.text.replace(/^sh -c /, '') : line.kind === 'exit' ? (line.exit === undefined ? line.text : `exit ${line.exit}`) : line.text
  return (
    <div className={`tline ${line.kind} ${line.kind === 'exit' && line.exit ? 'failed' : ''}`}>
      {line.kind === 'run' && <span className="prompt" aria-hidden="true">$ </span>}
      {visible(text.replace(/\n$/, ''))}
      {line.ref && <> <a href={blobLink(line.ref.hash, 'output.txt')}>all {bytes(line.ref.size)}</a></>}
    </div>
  )
}
