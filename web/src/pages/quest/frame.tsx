import { lazy, Suspense, useEffect, useRef } from 'react'
import { Follow, useLive } from '../../live/context'
import { questLink } from '../../route'
import { societyOf, tabAt } from '../../society'
import { Broken, Empty, Loading } from '../../ui/states'
import { Away, Held, questions, StatusBadge } from '../../ui/show'
import { useTab } from '../../ui/tab'
import { Controls } from './controls'
import { Lost } from './lost'
import Overview from './overview'
import { Known, Recorded } from './record'
import './quest.css'

const Canvas = lazy(() => import('../canvas/page'))
const Timeline = lazy(() => import('../timeline/page'))
const Agents = lazy(() => import('../agents/agents'))
const Agent = lazy(() => import('../agents/agent'))

type Place = { name: string; parts: string[]; query: URLSearchParams }

/** Frame is what all pages of a quest share: its name, its controls, its stream. */
export default function Frame(place: Place) {
  return <Follow name={place.name}><Inner {...place} /></Follow>
}

const wide = new Set(['canvas', 'timeline'])

function Inner({ name, parts, query }: Place) {
  const { quest } = useLive()
  const page = parts[0] ?? ''
  const nav = useRef<HTMLElement>(null)
  const ready = quest.data !== undefined
  // On a phone not all tabs have room: the one that is open is among those that are seen.
  useEffect(() => {
    const at = nav.current?.querySelector('[aria-current]')?.getBoundingClientRect()
    const box = nav.current?.getBoundingClientRect()
    if (nav.current && at && box && (at.right > box.right || at.left < box.left)) nav.current.scrollLeft += at.left - box.left - (box.width - at.width) / 2
  }, [page, ready])
  const asked = quest.data?.open_questions ?? 0
  useTab(`${name}${page ? ` · ${page}` : ''} · Lyceum`, quest.data?.status, asked)
  if (!quest.data) return quest.failure ? <Broken failure={quest.failure} again={quest.again} alone /> : <Coming name={name} wide={wide.has(page)} />
  const { society, agents, events } = quest.data
  const ofSociety = (last: boolean): [string, string, number?][] =>
    societyOf(society).tabs.filter((t) => !t.last === !last).map((t) => [t.path, t.label, quest.data && t.count?.(quest.data)])
  const canvas: [string, string][] = societyOf(society).bare ? [] : [['canvas', 'Canvas']]
  const tabs: [string, string, number?][] = [
    ['', 'Overview'], ...canvas, ['timeline', 'Timeline', events], ...ofSociety(false), ['agents', 'Agents', agents], ...ofSociety(true),
  ]
  const dock = societyOf(society).dock?.(quest.data, page)
  const bar = (
    <div className={wide.has(page) ? 'questbar wide' : 'questbar'}>
      <div className="inner">
        <div className="title">
          <h1>{name}</h1>
          <StatusBadge status={quest.data.status} /><Held quest={quest.data} /><Away quest={quest.data} />
          {page !== '' && asked > 0 && <a className="badge asks" href={questLink(name)}>{questions(asked)}</a>}
          <Controls quest={quest.data} />
        </div>
        <Known quest={quest.data} />
        <nav ref={nav} className="tabs" aria-label={`Pages of ${name}`}>
          {tabs.map(([path, label, n]) => (
            <a key={path} href={questLink(name, path)} aria-current={page === path ? 'page' : undefined}>
              {label}{n !== undefined && <span className="count num">{n.toLocaleString('en-US')}</span>}
            </a>
          ))}
        </nav>
      </div>
    </div>
  )
  const own = <Suspense fallback={<Loading what="the page" />}><Page name={name} parts={parts} query={query} society={society} /></Suspense>
  if (!dock) return <Recorded key={name} quest={quest.data}><Lost />{bar}{own}</Recorded>
  return (
    <Recorded key={name} quest={quest.data}>
      <Lost />
      <div className="docked">
        {bar}
        <div className="beside">{own}</div>
        <Suspense fallback={<div className="dock" />}>{dock}</Suspense>
      </div>
    </Recorded>
  )
}

// A long quest takes the server a moment. Whose it is can be said at once.
const Coming = ({ name, wide: broad }: { name: string; wide: boolean }) => (
  <>
    <div className={broad ? 'questbar wide' : 'questbar'}>
      <div className="inner"><div className="title coming"><h1>{name}</h1></div><div className="known" /><div className="tabs coming" /></div>
    </div>
    <Loading what={`the ledger of ${name}`} />
  </>
)

function Page({ name, parts, query, society }: Place & { society: string }) {
  const [page, id] = parts
  switch (page) {
    case undefined: return <Overview name={name} />
    case 'canvas': if (societyOf(society).bare) return <Bare name={name} />
      return societyOf(society).canvas?.({ name, id, query }) ?? <Canvas name={name} selected={query.get('node') ?? ''} />
    case 'timeline': return <Timeline name={name} query={query} />
    case 'agents': return id ? <Agent key={id} name={name} agent={id} query={query} /> : <Agents name={name} />
    default: return tabAt(page)?.page({ name, id, query })
      ?? <Empty title="There is no such page" action={<a className="button" href={questLink(name)}>Back to {name}</a>} />
  }
}

// One agent's work is a line, not a graph: the timeline shows it.
const Bare = ({ name }: { name: string }) => (
  <Empty title="There is nothing to draw" action={<a className="button first" href={questLink(name, 'timeline')}>The timeline</a>}>
    An agent that works alone has no papers or claims that rest on each other. What it tried is in the timeline; what bears its answer is on the
    overview.</Empty>
)
