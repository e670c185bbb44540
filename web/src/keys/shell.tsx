import { lazy, Suspense, useEffect, useState } from 'react'
import { go, useRoute } from '../route'
import { act } from './keys'

const Help = lazy(() => import('./help'))
const Finder = lazy(() => import('./finder'))

// The rows that j and k go through, wherever there are some.
const rows = '#main :is(.quest-card .name a, .paper-row .title, table.agents th a, .carriers a)'
const soon = 1500

/** Keys hears the keyboard for the whole page. */
export function Keys() {
  const { parts } = useRoute()
  const quest = parts[0] === 'q' ? parts[1] : undefined
  const [open, setOpen] = useState<'help' | 'find'>()
  useEffect(() => {
    let waits = 0
    const hear = (event: KeyboardEvent) => {
      // A dialog has keys of its own.
      if (event.defaultPrevented || document.querySelector('dialog[open]')) return
      const after = Date.now() - waits < soon
      waits = 0
      const what = act(event, after, quest, writes(event.target))
      if (!what) return
      if (what.kind === 'wait') { waits = Date.now(); return }
      event.preventDefault()
      switch (what.kind) {
        case 'go': go(what.to); break
        case 'help': setOpen('help'); break
        case 'find': setOpen('find'); break
        case 'search': document.querySelector<HTMLElement>('#main input[type=search]')?.focus(); break
        case 'step': step(what.by)
      }
    }
    document.addEventListener('keydown', hear)
    return () => document.removeEventListener('keydown', hear)
  }, [quest])
  const close = () => setOpen(undefined)
  return (
    <Suspense>
      {open === 'help' && <Help onClose={close} />}
      {open === 'find' && <Finder quest={quest} onClose={close} />}
    </Suspense>
  )
}

const writes = (target: EventTarget | null) => target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))

// A list that only has what is near the window moves by its own keys.
function step(by: 1 | -1) {
  const list = document.querySelector<HTMLElement>('#main .vlist')
  if (list) {
    list.focus()
    list.dispatchEvent(new KeyboardEvent('keydown', { key: by > 0 ? 'ArrowDown' : 'ArrowUp', bubbles: true, cancelable: true }))
    return
  }
  const all = [...document.querySelectorAll<HTMLElement>(rows)]
  const at = all.indexOf(document.activeElement as HTMLElement)
  const next = all[at < 0 ? 0 : Math.max(0, Math.min(all.length - 1, at + by))]
  next?.focus()
  next?.scrollIntoView({ block: 'nearest' })
}
