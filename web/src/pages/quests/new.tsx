import { useEffect, useRef, useState, type KeyboardEvent } from 'react'
import { useResource } from '../../api/resource'
import type { Example, Options } from '../../api/types'
import { useRoute } from '../../route'
import { Ready } from '../../ui/states'
import { Examples } from './examples'
import { QuestForm } from './form'
import { Upload } from './upload'
import './quests.css'

const ways = [['form', 'By form'], ['example', 'From an example'], ['upload', 'By upload']] as const
type Way = (typeof ways)[number][0]

/** NewQuest offers three ways to a quest. */
export default function NewQuest() {
  const [way, setWay] = useState<Way>('form')
  const list = useRef<HTMLDivElement>(null)
  const { query } = useRoute()
  const options = useResource<Options>('/options')
  const examples = useResource<{ examples: Example[] }>('/examples')
  useEffect(() => { document.title = 'New quest · Lyceum' }, [])
  const move = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0
    if (step === 0) return
    const at = (ways.findIndex(([name]) => name === way) + step + ways.length) % ways.length
    setWay((ways[at] ?? ways[0])[0])
    list.current?.querySelectorAll('button')[at]?.focus()
  }
  return (
    <div className="page">
      <div className="head"><h1>New quest</h1></div>
      <div className="tabs" role="tablist" aria-label="Ways to a quest" ref={list} onKeyDown={move}>
        {ways.map(([name, label]) => (
          <button key={name} role="tab" id={`tab-${name}`} aria-selected={way === name} aria-controls="way" tabIndex={way === name ? 0 : -1}
            onClick={() => setWay(name)}>{label}</button>
        ))}
      </div>
      <div id="way" role="tabpanel" aria-labelledby={`tab-${way}`} className={way === 'example' ? '' : 'card'}>
        {way === 'example' && <Ready of={examples} what="the examples">{({ examples: all }) => <Examples examples={all} />}</Ready>}
        {way === 'form' && <Ready of={options} what="what a quest can have">{(o) => <QuestForm options={o} question={query.get('question') ?? ''} />}</Ready>}
        {way === 'upload' && <Upload />}
      </div>
    </div>
  )
}
