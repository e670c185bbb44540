import { useEffect, useImperativeHandle, useLayoutEffect, useRef, useState, type ReactNode, type Ref } from 'react'
import { flat, visible } from '../../text/plain'
import { count } from '../../ui/show'
import { nameOf, subjectOf, type Lane } from './lanes'

/** A View is the part of a sheet that is looked at, in pixels of its cells. */
export type View = { left: number; top: number; right: number; bottom: number }

/** Shower brings a place of the cells into view. */
export type Shower = { show: (x: number, y: number, wide: number) => void }

type Props = {
  lanes: Lane[]
  label: string
  /** the height of a lane, and how wide all cells are */
  high: number
  wide: number
  head: number
  chosen: string
  /** top is what stands above the columns, and stays there */
  top?: ReactNode
  faint?: (ref: string) => boolean
  onFold: (ref: string) => void
  onChoose: (ref: string) => void
  cells: (view: View) => ReactNode
  ref?: Ref<Shower>
}

// What is drawn beyond the window, so that a quick turn of the wheel finds something.
const beyond = 240

const seen = ({ scrollLeft: x, scrollTop: y, clientWidth: w, clientHeight: h }: HTMLElement): View =>
  ({ left: x - beyond, top: y - beyond, right: x + w + beyond, bottom: y + h + beyond })

/** Sheet draws lanes below each other, their names at the left. Only what is near the window exists, however many there are. */
export function Sheet({ lanes, label, high, wide, head, chosen, top, faint, onFold, onChoose, cells, ref }: Props) {
  const box = useRef<HTMLDivElement>(null)
  const [view, setView] = useState<View>({ left: 0, top: 0, right: 1600, bottom: 1000 })
  useEffect(() => {
    const element = box.current
    if (!element) return
    let asked = 0
    const later = () => { if (!asked) asked = window.requestAnimationFrame(() => { asked = 0; setView(seen(element)) }) }
    const watch = new ResizeObserver(later)
    watch.observe(element)
    element.addEventListener('scroll', later, { passive: true })
    return () => {
      watch.disconnect()
      window.cancelAnimationFrame(asked)
      element.removeEventListener('scroll', later)
    }
  }, [])
  // What is folded away may be where one looked: a sheet that has shrunk is looked at elsewhere, and no scrolling says so.
  useLayoutEffect(() => { if (box.current) setView(seen(box.current)) }, [lanes.length, wide, high])
  useImperativeHandle(ref, () => ({
    show: (x, y, room) => {
      const e = box.current
      if (!e) return
      const across = e.clientWidth - head
      if (x < e.scrollLeft || x + room > e.scrollLeft + across) e.scrollLeft = x - Math.max(0, across - room) / 3
      if (y < e.scrollTop || y + high > e.scrollTop + e.clientHeight - 40) e.scrollTop = y - e.clientHeight / 3
    },
  }), [head, high])
  const first = Math.max(0, Math.floor(view.top / high))
  const last = Math.min(lanes.length - 1, Math.ceil(view.bottom / high))
  const near = lanes.slice(first, last + 1)
  return (
    <div ref={box} className="sheet" role="region" aria-label={label} tabIndex={0}>
      {top && <div className="sheet-top" style={{ width: head + wide, gridTemplateColumns: `${head}px minmax(0, 1fr)` }}><span className="corner" />{top}</div>}
      <div className="sheet-inner" style={{ width: head + wide, height: lanes.length * high, gridTemplateColumns: `${head}px minmax(0, 1fr)` }}>
        <ul className="heads" aria-label="Lines of work">
          {near.map((l) => <Head key={l.ref} lane={l} high={high} chosen={l.ref === chosen} faint={faint?.(l.ref) ?? false} onFold={onFold}
            onChoose={onChoose} />)}
        </ul>
        <div className="cells">
          {near.map((l) => <div key={l.ref} className={l.row % 2 === 0 ? 'stripe' : 'stripe odd'} style={{ top: l.row * high, height: high }} />)}
          {cells(view)}
        </div>
      </div>
    </div>
  )
}

const indent = 14

type HeadProps = { lane: Lane; high: number; chosen: boolean; faint: boolean; onFold: (ref: string) => void; onChoose: (ref: string) => void }

function Head({ lane: l, high, chosen, faint, onFold, onChoose }: HeadProps) {
  const { node } = l
  const middle = high / 2
  const x = (depth: number) => 12 + depth * indent
  return (
    <li className={`lane-head ${chosen ? 'chosen' : ''} ${faint ? 'faint' : ''}`} style={{ top: l.row * high, height: high, paddingLeft: x(l.depth) + 12 }}>
      <svg className="rails" width={x(l.depth) + 12} height={high} aria-hidden="true">
        {l.rails.map((d) => <line key={d} x1={x(d - 1)} x2={x(d - 1)} y1={0} y2={high} />)}
        {l.depth > 0 && <path d={`M${x(l.depth - 1)} 0V${l.last ? middle - 6 : high}M${x(l.depth - 1)} ${middle - 6}q0 6 6 6H${x(l.depth) - 5}`} />}
        {l.children > 0 && !l.folded && <line x1={x(l.depth)} x2={x(l.depth)} y1={middle + 5} y2={high} />}
        <circle className={`${node.branch_kind} ${node.closed ? 'closed' : ''}`} cx={x(l.depth)} cy={middle} r={5} />
      </svg>
      <button className="lane-name" aria-pressed={chosen} onClick={() => onChoose(l.ref)} title={flat(`${node.ref}: ${subjectOf(node)}`)}>
        <span className="row"><span className="clip mono">{visible(nameOf(node))}</span>{node.current && <span className="badge live">here</span>}</span>
        <span className="clip small muted">{visible(subjectOf(node))}</span>
      </button>
      {l.children > 0 && <button className="button small quiet fold" aria-expanded={!l.folded} onClick={() => onFold(l.ref)}
>
        <span aria-hidden="true">{l.folded ? `+${count(l.children)}` : '−'}</span>
        <span className="hidden-label">{`${l.folded ? 'Unfold' : 'Fold'} ${l.children} below `}{visible(l.ref)}</span></button>}
    </li>
  )
}
