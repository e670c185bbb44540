import type { Root } from 'mdast'

// How long a text may take, and how many trees are kept.
const patience = 5000
const kept = 40

const trees = new Map<string, Root | null>()
let worker: Worker | undefined
let last: Promise<unknown> = Promise.resolve()

/** known is the tree of a text that was parsed before, null if it has none, undefined if nobody knows. */
export const known = (text: string) => trees.get(text)

/** parseAside has a text parsed where it cannot hold up the page: one after the other, and each only for so long. */
export function parseAside(text: string): Promise<Root | null> {
  const result = last.then(() => {
    const tree = known(text)
    return tree === undefined ? ask(text) : tree
  }).then((tree) => {
    trees.delete(text)
    trees.set(text, tree)
    for (const old of trees.keys()) if (trees.size > kept) trees.delete(old)
    return tree
  })
  last = result
  return result
}

function ask(text: string): Promise<Root | null> {
  return new Promise((resolve) => {
    const here = (worker ??= new Worker(new URL('./aside.worker.ts', import.meta.url), { type: 'module' }))
    const done = (tree: Root | null, broken: boolean) => {
      clearTimeout(timer)
      if (broken) {
        here.terminate()
        worker = undefined
      }
      resolve(tree)
    }
    const timer = setTimeout(() => done(null, true), patience)
    here.onmessage = (message: MessageEvent<Root | null>) => done(message.data, false)
    here.onerror = (event) => { event.preventDefault(); done(null, true) }
    here.postMessage(text)
  })
}
