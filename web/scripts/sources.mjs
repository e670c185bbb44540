// Writes dist/sources.sha256: what the built files were built from. stale_test.go
// computes the same and fails when somebody changed a source and did not build.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

process.chdir(new URL('..', import.meta.url).pathname)

const single = ['index.html', 'package-lock.json', 'package.json', 'tsconfig.json', 'vite.config.ts']
const folders = ['public', 'scripts', 'src']

function below(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    return entry.isDirectory() ? below(path) : [path]
  })
}

const files = [...single, ...folders.flatMap(below)]
files.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
const sum = createHash('sha256')
for (const file of files) {
  const content = createHash('sha256').update(readFileSync(file)).digest('hex')
  sum.update(`${content}  ${file}\n`)
}
writeFileSync('dist/sources.sha256', `${sum.digest('hex')}\n`)
