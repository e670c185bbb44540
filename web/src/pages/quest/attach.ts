import { clip, visible } from '../../text/plain'

// What goes with a message, as the server bounds it: each file, and all of them together, for a request has 40 MiB of
// JSON, in which files are a third longer.
const most = 8
const each = 25 * 1024 * 1024
const together = 29 * 1024 * 1024

const mib = (size: number) => (size / 1024 / 1024).toFixed(1)

/** refusal says why files cannot go with one message; nothing if they can. */
export function refusal(files: { name: string; size: number }[]): string {
  if (files.length > most) return `A message has at most ${most} files; these are ${files.length}.`
  const large = files.find((file) => file.size > each)
  if (large) return `A file of a message has at most 25 MiB; ${visible(clip(large.name, 80))} has ${mib(large.size)} MiB.`
  const size = files.reduce((sum, file) => sum + file.size, 0)
  if (size > together) return `The files of a message have at most 29 MiB together; these have ${mib(size)} MiB. Send them in several messages.`
  return ''
}
