import { expect, test } from 'vitest'
import { differing, nameOf, noteOf, paired, parsePatch, rowsOf, unquote } from './patch'

const patch = `diff --git a/cmd/count.go b/cmd/count.go
new file mode 100644
index 0000000..1111111
--- /dev/null
+++ b/cmd/count.go
@@ -0,0 +1,2 @@
+package cmd
+--- a/not a header
diff --git a/main.go b/main.go
index 1..2 100644
--- a/main.go
+++ b/main.go
@@ -1,4 +1,4 @@ func main() {
 package main
-run(1)
+run(2)

-old
\\ No newline at end of file
+new
diff --git a/old name.txt b/new name.txt
similarity index 90%
rename from old name.txt
rename to new name.txt
diff --git a/run.sh b/run.sh
old mode 100644
new mode 100755
diff --git a/gone b/gone
deleted file mode 100644
--- a/gone
+++ /dev/null
@@ -1 +0,0 @@
-x
diff --git a/logo.png b/logo.png
new file mode 100644
GIT binary patch
literal 1234
zcmV;1
@@ -1,9 +1,9 @@

literal 0
HcmV?d00001

diff --git "a/\\303\\244\\".txt" "b/\\303\\244\\".txt"
new file mode 100644
`

test('a patch of every kind of change', () => {
  expect(parsePatch(patch).map((f) => [f.kind, nameOf(f), f.added, f.removed, f.binary])).toEqual([
    ['added', 'cmd/count.go', 2, 0, false],
    ['changed', 'main.go', 2, 2, false],
    ['renamed', 'new name.txt', 0, 0, false],
    ['mode', 'run.sh', 0, 0, false],
    ['removed', 'gone', 0, 1, false],
    ['added', 'logo.png', 0, 0, true],
    ['added', 'ä".txt', 0, 0, false],
  ])
})

test('the bytes of a binary file are not read as lines', () => {
  expect(parsePatch(patch)[5]?.hunks).toEqual([])
})

test('lines have the numbers of both files', () => {
  const lines = parsePatch(patch)[1]?.hunks[0]?.lines ?? []
  expect(lines.map((l) => [l.kind, l.before, l.after, l.open])).toEqual([
    [' ', 1, 1, undefined], ['-', 2, undefined, undefined], ['+', undefined, 2, undefined], [' ', 3, 3, undefined],
    ['-', 4, undefined, true], ['+', undefined, 4, undefined],
  ])
})

test('what a hunk holds is not read as a heading', () => {
  const text = '--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n--- a/y\n+++ b/y\n diff --git a/z b/z\n'
    + '-gone\n+here\n--- a/second\n+++ b/second\n@@ -1 +1 @@\n-1\n+2\n'
  const [file] = parsePatch(text)
  expect(file?.hunks[0]?.lines.map((l) => l.kind + l.text)).toEqual(['--- a/y', '+++ b/y', ' diff --git a/z b/z', '-gone', '+here'])
  expect(parsePatch('--- a/x\n+++ b/x\n@@ -1 +1 @@\n-1\n+2\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n-1\n+2\n').map(nameOf)).toEqual(['x', 'y'])
})

test('notes', () => {
  expect(parsePatch(patch).map(noteOf)).toEqual(['', '', 'renamed from old name.txt', 'mode 100644 → 100755', '', 'a binary file, 1,234 bytes afterwards',
    'an empty file'])
})

test('nothing is thrown, whatever a patch holds', () => {
  for (const text of ['', '\n', '@@ -1 +1 @@\n+x', 'diff --git ', 'diff --git a', '--- a\n+++', '@@',
    'diff --git a/x b/x\n@@ -9999999999999,1 +1,99999999 @@\n x\n\\',
    'diff --git a/<img src=x onerror=alert(1)> b/<img src=x onerror=alert(1)>\nBinary files a and b differ', '"\\', patch.replaceAll('\n', '\r\n')]) {
    const files = parsePatch(text)
    rowsOf(files, true, new Set())
    rowsOf(files, false, new Set())
  }
  expect(parsePatch(patch.replaceAll('\n', '\r\n')).length).toBe(7)
  for (let n = 0; n < patch.length; n++) parsePatch(patch.slice(n))
})

test('side by side, what went stands beside what came', () => {
  const line = (kind: ' ' | '+' | '-', text: string) => ({ kind, text })
  const lines = [line(' ', 'a'), line('-', 'b'), line('-', 'c'), line('+', 'd'), line(' ', 'e'), line('+', 'f')]
  expect(paired(lines).map(([l, r]) => `${l?.text ?? ''}|${r?.text ?? ''}`)).toEqual(['a|a', 'b|d', 'c|', 'e|e', '|f'])
})

test('rows: one below the other, side by side, and folded', () => {
  const files = parsePatch(patch)
  const kinds = (split: boolean, folded: number[]) => rowsOf(files, split, new Set(folded)).filter((r) => r.file === 1).map((r) => r.kind)
  expect(kinds(false, [])).toEqual(['file', 'hunk', 'line', 'line', 'line', 'line', 'line', 'line'])
  expect(kinds(true, [])).toEqual(['file', 'hunk', 'pair', 'pair', 'pair', 'pair'])
  expect(kinds(true, [1])).toEqual(['file'])
  const order = rowsOf(files, false, new Set()).flatMap((r) => (r.kind === 'line' && r.file === 1 ? [r.line.kind + r.line.text] : []))
  expect(order).toEqual([' package main', '-run(1)', '+run(2)', ' ', '-old', '+new'])
})

test('where two lines differ', () => {
  expect(differing('run(1)', 'run(2)')).toEqual([4, 5])
  expect(differing('run(1)', 'run(1)')).toBeUndefined()
  expect(differing('abc', 'xyz')).toBeUndefined()
  expect(differing('aa', 'aaa')).toBeUndefined()
  expect(differing('aaa', 'aa')).toEqual([2, 3])
})

test('names as git quotes them', () => {
  expect(unquote('plain')).toBe('plain')
  expect(unquote('"a\\tb\\\\c\\303\\274"')).toBe('a\tb\\cü')
})
