// What goes with a message, as the server bounds it.
const most = 8
const room = 7 * 1024 * 1024

/** refusal says why files cannot go with one message; nothing if they can. */
export function refusal(files: { size: number }[]): string {
  if (files.length > most) return `A message has at most ${most} files; these are ${files.length}.`
  const size = files.reduce((sum, file) => sum + file.size, 0)
  if (size > room) return `The files of a message have at most 7 MiB together; these have ${(size / 1024 / 1024).toFixed(1)} MiB.`
  return ''
}
