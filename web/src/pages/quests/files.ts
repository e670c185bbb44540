import type { NewFile } from '../../api/types'
import { base64 } from '../../text/base64'

export type Bundle = { yaml: string; files: NewFile[] }

const largest = 9 * 1024 * 1024

/** readBundle makes a quest of what somebody dropped: a quest.yaml, files beside it, or a zip of them. */
export async function readBundle(picked: readonly File[]): Promise<Bundle> {
  const found = new Map<string, Uint8Array>()
  for (const file of picked) {
    const bytes = new Uint8Array(await file.arrayBuffer())
    if (/\.zip$/i.test(file.name)) for (const [path, content] of await unzip(bytes)) found.set(path, content)
    else found.set(file.webkitRelativePath || file.name, bytes)
  }
  return bundleOf(found)
}

// At once, in this thread: what fflate does beside it needs a worker made of a text, which
// the Content-Security-Policy refuses.
async function unzip(bytes: Uint8Array): Promise<[string, Uint8Array][]> {
  const { unzipSync } = await import('fflate')
  let size = 0
  let entries: Record<string, Uint8Array>
  try {
    entries = unzipSync(bytes, {
      filter: (file) => {
        size += file.originalSize
        return !file.name.endsWith('/') && size <= largest
      },
    })
  } catch (error) {
    throw new Error(`This zip cannot be read: ${error instanceof Error ? error.message : String(error)}.`)
  }
  if (size > largest) throw new Error('The files are more than 9 MiB. Use lyceum run on the command line instead.')
  return Object.entries(entries)
}

/** bundleOf finds the quest.yaml that stands highest, and names all else from where it stands. */
export function bundleOf(found: ReadonlyMap<string, Uint8Array>): Bundle {
  const yamls = [...found.keys()].filter((p) => /(^|\/)quest\.ya?ml$/i.test(p)).sort((a, b) => a.split('/').length - b.split('/').length)
  const only = [...found.keys()].filter((p) => /\.ya?ml$/i.test(p))
  const at = yamls[0] ?? (only.length === 1 ? only[0] : undefined)
  if (at === undefined) throw new Error('There is no quest.yaml among these files.')
  const root = at.slice(0, at.lastIndexOf('/') + 1)
  const files: NewFile[] = []
  for (const [path, bytes] of found) {
    if (path === at || !path.startsWith(root)) continue
    files.push({ path: path.slice(root.length), base64: base64(bytes) })
  }
  return { yaml: new TextDecoder().decode(found.get(at)), files }
}
