import { useRef, useState } from 'react'
import type { NewFile } from '../../api/types'
import { base64 } from '../../text/base64'
import { bytes } from '../../ui/show'
import { dataFolder } from './draft'

const largest = 9 * 1024 * 1024

/** DataDrop takes files that each agent finds in its home. */
export function DataDrop({ files, onFiles, wrong }: { files: NewFile[]; onFiles: (files: NewFile[]) => void; wrong: string[] }) {
  const input = useRef<HTMLInputElement>(null)
  const [over, setOver] = useState(false)
  const [refused, setRefused] = useState('')
  const take = async (picked: readonly File[]) => {
    setRefused('')
    const size = picked.reduce((n, f) => n + f.size, 0)
    if (size > largest) return setRefused(`These are ${bytes(size)}, and at most ${bytes(largest)} can be sent. Use lyceum run with --data instead.`)
    const read = await Promise.all(picked.map(async (f): Promise<NewFile> => (
      { path: `${dataFolder}/${f.webkitRelativePath || f.name}`, base64: base64(new Uint8Array(await f.arrayBuffer())) })))
    const fresh = new Set(read.map((f) => f.path))
    onFiles([...files.filter((f) => !fresh.has(f.path)), ...read])
  }
  return (
    <div className="field">
      <div className={over ? 'drop small over' : 'drop small'} onDragOver={(e) => { e.preventDefault(); setOver(true) }} onDragLeave={() => setOver(false)}
        onDrop={(e) => { e.preventDefault(); setOver(false); void take([...e.dataTransfer.files]) }}>
        {files.length === 0 ? <p>Drop data here: each agent finds it in its home.</p>
          : <ul>{files.map((f) => <li key={f.path}>{f.path} <button type="button" className="link" aria-label={`Leave ${f.path} out`}
              onClick={() => onFiles(files.filter((o) => o !== f))}>leave out</button></li>)}</ul>}
        <button type="button" className="button small" onClick={() => input.current?.click()}>Choose files</button>
        <input ref={input} type="file" multiple hidden aria-label="Data of the quest" onChange={(e) => void take([...(e.target.files ?? [])])} />
      </div>
      {[...(refused ? [refused] : []), ...wrong].map((text) => <p className="wrong" role="alert" key={text}>{text}</p>)}
    </div>
  )
}
