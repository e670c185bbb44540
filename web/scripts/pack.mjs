// Packs the built files beside themselves, so that the server sends them packed without
// doing it again for every reader, and prints what the first view weighs.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'

process.chdir(new URL('../dist', import.meta.url).pathname)
const small = 1024
let total = 0
for (const name of readdirSync('.', { recursive: true })) {
  const path = String(name)
  if (!/\.(?:js|css|html|svg)$/.test(path)) continue
  const content = readFileSync(path)
  if (content.length < small) continue
  const packed = gzipSync(content, { level: 9 })
  total += packed.length
  writeFileSync(join('.', `${path}.gz`), packed)
}
console.log(`all scripts and styles, packed: ${Math.round(total / 1024)} KiB`)
