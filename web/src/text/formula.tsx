import katex, { type KatexOptions } from 'katex'
import { useEffect, useRef } from 'react'
import 'katex/dist/katex.min.css'

/** The tree that KaTeX builds before it makes nodes or text of it. */
type Tree = { attributes?: Record<string, string>; children?: Tree[]; toNode: () => Node }
type Builder = { __renderToDomTree: (source: string, options: KatexOptions) => Tree }

// It may not link, load or reach out of its box (trust), nor expand for ever.
const options: KatexOptions = { trust: false, throwOnError: true, maxExpand: 300, maxSize: 20, strict: 'ignore', output: 'htmlAndMathml',
  errorColor: 'var(--bad)' }

const kept = 'data-style'

/**
 * nodeOf builds a formula's nodes. A few of KaTeX's drawings carry a style attribute,
 * which a strict Content-Security-Policy refuses; set through the style object the same
 * is allowed.
 */
function nodeOf(source: string, displayMode: boolean): Node {
  const tree = (katex as unknown as Builder).__renderToDomTree(source, { ...options, displayMode })
  setAside(tree)
  const node = tree.toNode()
  if (node instanceof Element) {
    for (const element of node.querySelectorAll<SVGElement>(`[${kept}]`)) {
      element.style.cssText = element.getAttribute(kept) ?? ''
      element.removeAttribute(kept)
    }
  }
  return node
}

function setAside(tree: Tree): void {
  if (tree.attributes?.style !== undefined) {
    tree.attributes[kept] = tree.attributes.style
    delete tree.attributes.style
  }
  tree.children?.forEach(setAside)
}

// Formulas are drawn in turns of a few frames, with breaths between them: a text may have
// hundreds, and whoever reads it wants to scroll meanwhile.
const turn = 25
const waiting = new Set<() => void>()

function drawSome(): void {
  const until = performance.now() + turn
  for (const draw of waiting) {
    if (performance.now() > until) {
      setTimeout(drawSome)
      return
    }
    waiting.delete(draw)
    draw()
  }
}

/** Formula draws TeX, and shows it as it is where it cannot be drawn. */
export default function Formula({ source, display }: { source: string; display: boolean }) {
  const place = useRef<HTMLSpanElement>(null)
  useEffect(() => {
    const draw = () => {
      try {
        place.current?.replaceChildren(nodeOf(source, display))
      } catch {
        place.current?.replaceChildren(source)
      }
    }
    if (waiting.size === 0) setTimeout(drawSome)
    waiting.add(draw)
    return () => { waiting.delete(draw) }
  }, [source, display])
  if (!display) return <span ref={place} className="formula" />
  return <span ref={place} className="formula display" tabIndex={0} role="group" aria-label="formula" />
}
