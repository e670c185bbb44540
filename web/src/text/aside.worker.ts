import { parse } from './parse'

// It is sent a text and sends back its tree, or null for none.
self.onmessage = (message: MessageEvent<string>) => {
  let tree
  try {
    tree = parse(message.data)
  } catch {
    tree = undefined
  }
  self.postMessage(tree ?? null)
}
