import { lazy, Suspense, useEffect, useRef, useState } from 'react'
import { useResource } from './api/resource'
import type { Options } from './api/types'
import { isBack } from './back'
import { Keys } from './keys/shell'
import { useRoute, type Route } from './route'
import { Empty, Loading } from './ui/states'
import { Guard } from './ui/guard'
import { applyTheme, storedTheme, type Theme } from './ui/theme'
import { Quests } from './pages/quests/quests'

const QuestFrame = lazy(() => import('./pages/quest/frame'))
const NewQuest = lazy(() => import('./pages/quests/new'))
const Settings = lazy(() => import('./pages/settings/page'))
const Studies = lazy(() => import('./pages/studies/page'))
const Compare = lazy(() => import('./pages/compare/compare'))

export function App() {
  const route = useRoute()
  const place = route.parts.join('/')
  const main = useRef<HTMLElement>(null)
  const first = useRef(true)
  // A new place begins at its top, and the keyboard with it; reading on in the same one does not move.
  const spot = route.parts[0] === 'q' ? route.parts.slice(0, 4).join('/') : place
  useEffect(() => {
    if (first.current) { first.current = false; return }
    if (!isBack()) window.scrollTo(0, 0)
    main.current?.focus({ preventScroll: true })
  }, [spot])
  return (
    <>
      <a className="button skip" href="#main" onClick={(e) => { e.preventDefault(); main.current?.focus() }}>Skip to the content</a>
      <Top route={route} />
      <main id="main" ref={main} tabIndex={-1} className="main">
        <Guard key={place}>
          <Suspense fallback={<Loading what="the page" />}><Place route={route} /></Suspense>
        </Guard>
      </main>
      <Keys />
    </>
  )
}

function Place({ route }: { route: Route }) {
  const [kind, name, ...rest] = route.parts
  if (kind === undefined) return <Quests />
  if (kind === 'new') return <NewQuest />
  if (kind === 'studies') return <Studies name={name} query={route.query} />
  if (kind === 'compare') return <Compare a={route.query.get('a') ?? ''} b={route.query.get('b') ?? ''} />
  if (kind === 'settings') return <Settings />
  if (kind === 'q' && name) return <QuestFrame key={name} name={name} parts={rest} query={route.query} />
  return <Empty alone title="There is no such page" action={<a className="button first" href="#/">All quests</a>}>The link leads nowhere.</Empty>
}

function Top({ route }: { route: Route }) {
  const kind = route.parts[0]
  const at = (name?: string) => (kind === name ? 'page' : undefined)
  return (
    <header className="top">
      <a className="brand" href="#/" aria-label="Lyceum, all quests">
        <svg viewBox="0 0 32 32" aria-hidden="true"><path d="M16 3 29 10v3H3v-3zM6 15h3v9H6zm8.500 0h3v9h-3zM23 15h3v9h-3zM3 26h26v3H3z" /></svg>
        <span>Lyceum</span>
      </a>
      <nav aria-label="Main">
        <a href="#/" aria-current={at(undefined)}>Quests</a>
        <a href="#/studies" aria-current={at('studies')}>Studies</a>
        <a href="#/compare" aria-current={at('compare')}>Compare</a>
        <a href="#/settings" aria-current={at('settings')}>Settings</a>
        <a href="docs/" target="_blank" rel="noopener">Help</a>
      </nav>
      <Version />
      <ThemeSwitch />
    </header>
  )
}

// Which Lyceum this is: whoever asks for help is asked for it first.
function Version() {
  const { data } = useResource<Options>('/options')
  return data ? <span className="version-of small muted" title="The version of Lyceum that serves this page">{data.version}</span> : null
}

function ThemeSwitch() {
  const [theme, setTheme] = useState<Theme>(storedTheme)
  const pick = (value: Theme) => { setTheme(value); applyTheme(value) }
  return (
    <select aria-label="Theme" value={theme} onChange={(e) => pick(e.target.value as Theme)}>
      <option value="system">System</option>
      <option value="light">Light</option>
      <option value="dark">Dark</option>
    </select>
  )
}
