import type { Definition, Heading, Nodes, PhrasingContent, Root, RootContent } from 'mdast'
import { Component, createElement, lazy, memo, Suspense, useEffect, useMemo, useState, type MouseEvent, type ReactNode } from 'react'
import { blobLink } from '../api/client'
import { known, parseAside } from './aside'
import { Code } from './code'
import { flat, visible } from './plain'
import { drawableFormula, longest, parse, safeHref, short, slug } from './parse'

const Formula = lazy(() => import('./formula'))

/** What a text may refer to: attached images by name, and words that are links. */
export type Context = {
  images?: ReadonlyMap<string, string>
  /** figures are pictures of a paper, by name: where each is read from. Their alternative text is their caption. */
  figures?: ReadonlyMap<string, string>
  /** word turns a piece of text into something to click, such as [7] or a paper's ref. */
  word?: { pattern: RegExp; show: (match: string, key: string) => ReactNode }
}

type Setting = Context & { definitions: Map<string, Definition>; levels: Map<Heading, number> }

// Nesting deeper than this is nobody's prose.
const deepest = 40

/** Markdown shows a text of an agent. It makes elements, never HTML: tags in it are words. */
export const Markdown = memo(function Markdown({ text, context }: { text: string; context?: Context }) {
  const root = useTree(text)
  if (root === null) return <pre className="pre">{visible(text)}</pre>
  if (!root) return <p className="prose unparsed bulk">{visible(text)}</p>
  return (
    <AsText text={text} key={text}>
      <Tree root={root} context={context} />
    </AsText>
  )
})

// useTree is a text's tree, null if it has none, undefined while nobody knows.
function useTree(text: string): Root | null | undefined {
  const now = useMemo(() => (text.length <= short ? attempt(text) : text.length > longest ? null : known(text)), [text])
  const [later, setLater] = useState<{ text: string; root: Root | null }>()
  useEffect(() => {
    if (now !== undefined) return
    let gone = false
    void parseAside(text).then((root) => { if (!gone) setLater({ text, root }) })
    return () => { gone = true }
  }, [text, now])
  if (now !== undefined) return now
  // A text that grows is shown as it was until more of it is known.
  return later && text.startsWith(later.text) ? later.root : undefined
}

function attempt(text: string): Root | null {
  try {
    return parse(text) ?? null
  } catch {
    return null
  }
}

function Tree({ root, context }: { root: Root; context?: Context }) {
  const setting = useMemo(() => {
    const definitions = new Map<string, Definition>()
    for (const node of root.children) if (node.type === 'definition') definitions.set(node.identifier, node)
    return { ...context, definitions, levels: levelsOf(root.children) }
  }, [root, context])
  return <div className="prose">{children(root.children, setting, 0)}</div>
}

// Whatever breaks the parser or the tree, the words stay readable.
class AsText extends Component<{ text: string; children: ReactNode }, { broken: boolean }> {
  state = { broken: false }
  static getDerivedStateFromError = () => ({ broken: true })
  render() {
    return this.state.broken ? <pre className="pre">{visible(this.props.text)}</pre> : this.props.children
  }
}

// The page's own headings stand above those of a text. However a text jumps between
// depths, the outline that a reader hears goes down one step at a time.
function levelsOf(nodes: readonly Nodes[]): Map<Heading, number> {
  const levels = new Map<Heading, number>()
  let open: number[] = []
  for (const node of nodes) {
    if (node.type !== 'heading') continue
    open = [...open.filter((depth) => depth < node.depth), node.depth]
    levels.set(node, Math.min(6, open.length + 2))
  }
  return levels
}

function children(nodes: readonly Nodes[], s: Setting, depth: number): ReactNode[] {
  return nodes.map((node, i) => show(node, s, depth + 1, String(i)))
}

function show(node: Nodes, s: Setting, depth: number, key: string): ReactNode {
  if (depth > deepest) return <code key={key}>…</code>
  const inner = () => ('children' in node ? children(node.children, s, depth) : [])
  switch (node.type) {
    case 'text': return words(node.value, s, key)
    case 'paragraph': return <p key={key}>{inner()}</p>
    case 'heading': {
      const tag = `h${s.levels.get(node) ?? 6}`
      return createElement(tag, { key, id: slug(plain(node.children)) }, inner())
    }
    case 'emphasis': return <em key={key}>{inner()}</em>
    case 'strong': return <strong key={key}>{inner()}</strong>
    case 'delete': return <del key={key}>{inner()}</del>
    case 'inlineCode': return <code key={key} className={node.value.length > 5000 ? 'bulk' : undefined}>{words(node.value, s, key)}</code>
    case 'code': return <Code key={key} text={node.value} language={node.lang ?? ''} />
    case 'blockquote': return <blockquote key={key}>{inner()}</blockquote>
    case 'break': return <br key={key} />
    case 'thematicBreak': return <hr key={key} />
    case 'list':
      return node.ordered ? <ol key={key} start={node.start ?? 1}>{inner()}</ol> : <ul key={key}>{inner()}</ul>
    case 'listItem': return (
      <li key={key} className={typeof node.checked === 'boolean' ? 'task' : undefined}>
        {typeof node.checked === 'boolean' && <input type="checkbox" checked={node.checked} disabled aria-label="task" />}
        {inner()}
      </li>
    )
    case 'link': return anchor(node.url, inner(), key)
    case 'linkReference': {
      const target = s.definitions.get(node.identifier)
      return target ? anchor(target.url, inner(), key) : <span key={key}>[{inner()}]</span>
    }
    case 'image': return image(node.url, node.alt ?? '', s, key)
    case 'imageReference': return image(s.definitions.get(node.identifier)?.url ?? '', node.alt ?? '', s, key)
    case 'table': return table(node.children.map((row) => row.children), node.align ?? [], s, depth, key)
    case 'math': return formula(node.value, true, key)
    case 'inlineMath': return formula(node.value, fences(node) >= 2, key)
    case 'html': return <code key={key} className="tag">{visible(node.value)}</code>
    case 'footnoteReference': return <sup key={key}>[{node.label ?? node.identifier}]</sup>
    case 'footnoteDefinition':
      return <div key={key} className="footnote"><sup>[{node.label ?? node.identifier}]</sup>{inner()}</div>
    default: return null
  }
}

function words(text: string, s: Setting, key: string): ReactNode {
  if (!s.word) return visible(text)
  const out: ReactNode[] = []
  let from = 0
  for (const match of text.matchAll(s.word.pattern)) {
    out.push(<span key={`${key}t${from}`}>{visible(text.slice(from, match.index))}</span>)
    out.push(s.word.show(match[0], `${key}w${match.index}`))
    from = match.index + match[0].length
  }
  if (from === 0) return visible(text)
  out.push(<span key={`${key}t${from}`}>{visible(text.slice(from))}</span>)
  return out
}

function anchor(url: string, inner: ReactNode[], key: string): ReactNode {
  const href = safeHref(url)
  if (!href) return <span key={key} className="dead-link">{inner} <code>{visible(url)}</code></span>
  if (href.startsWith('#')) return <a key={key} href={href} onClick={(e) => within(e, href)}>{inner}</a>
  return <a key={key} href={href} target="_blank" rel="noreferrer noopener">{inner}</a>
}

// What stands behind the # is the page's own place: a link inside a text only scrolls.
function within(event: MouseEvent, href: string): void {
  event.preventDefault()
  document.getElementById(slug(href.slice(1)))?.scrollIntoView()
}

function image(url: string, alt: string, s: Setting, key: string): ReactNode {
  const name = url.replace(/^\.\//, '')
  const figure = s.figures?.get(name)
  if (figure) return <span key={key} className="figure"><img src={figure} alt={flat(alt)} />
    <span className="caption" aria-hidden="true">{visible(alt)}</span></span>
  const hash = s.images?.get(name)
  if (hash) return <img key={key} src={blobLink(hash)} alt={flat(alt)} loading="lazy" />
  return <span key={key} className="dead-link">[image: {visible(alt || url)}] <code>{visible(url)}</code></span>
}

function table(rows: RootContent[][] | Nodes[][], align: readonly (string | null)[], s: Setting, depth: number, key: string): ReactNode {
  const [head = [], ...body] = rows as Nodes[][]
  const cell = (node: Nodes, i: number, tag: 'th' | 'td') =>
    createElement(tag, { key: i, className: align[i] === 'right' ? 'right num' : undefined },
      'children' in node ? children(node.children, s, depth + 1) : null)
  return (
    <div key={key} className="table" role="group" aria-label="table" tabIndex={0}>
      <table>
        <thead><tr>{head.map((c, i) => cell(c, i, 'th'))}</tr></thead>
        <tbody>{body.map((row, r) => <tr key={r}>{row.map((c, i) => cell(c, i, 'td'))}</tr>)}</tbody>
      </table>
    </div>
  )
}

// $$…$$ on one line is meant as a formula of its own, though it stands in a paragraph.
function fences(node: Nodes & { value: string }): number {
  const { start, end } = node.position ?? {}
  return ((end?.offset ?? 0) - (start?.offset ?? 0) - node.value.length) / 2
}

function formula(source: string, display: boolean, key: string): ReactNode {
  if (!drawableFormula(source)) return <code key={key}>{visible(source)}</code>
  return (
    <Suspense key={key} fallback={<code>{visible(source)}</code>}>
      <Formula source={source} display={display} />
    </Suspense>
  )
}

function plain(nodes: readonly PhrasingContent[]): string {
  return nodes.map((n) => ('value' in n ? n.value : 'children' in n ? plain(n.children) : '')).join('')
}
