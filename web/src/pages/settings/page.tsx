import { useEffect, useMemo, useState } from 'react'
import { useResource } from '../../api/resource'
import type { Doctor, Finding, Setting, Settings as All } from '../../api/types'
import { visible } from '../../text/plain'
import { Badge } from '../../ui/show'
import { Ready } from '../../ui/states'
import './settings.css'

/** Settings are all keys of this home: what each is, where it comes from and who reads it. Secrets show only as set. */
export default function Settings() {
  const all = useResource<All>('/settings')
  const [asked, setAsked] = useState('')
  useEffect(() => { document.title = 'Settings · Lyceum' }, [])
  return (
    <div className="page settings">
      <div className="head"><h1>Settings</h1>
        <input type="search" aria-label="Search" placeholder="Search" value={asked} onChange={(e) => setAsked(e.target.value)} /></div>
      <Ready of={all} what="the settings">{(s) => (
        <>
          <p className="small muted">{s.exists ? <>They are in <span className="mono">{visible(s.file)}</span>; a change there holds for the next start.</>
            : <>There is no <span className="mono">{visible(s.file)}</span>: all is as it comes. Whoever writes one there has it hold with the next start.</>}</p>
          <Keys settings={s.settings} asked={asked} />
        </>
      )}</Ready>
      <Examined />
    </div>
  )
}

function Keys({ settings, asked }: { settings: Setting[]; asked: string }) {
  const groups = useMemo(() => {
    const out = new Map<string, Setting[]>()
    const words = asked.toLowerCase().split(/\s+/).filter(Boolean)
    for (const s of settings) {
      const all = `${s.key} ${s.about} ${s.reader}`.toLowerCase()
      if (!words.every((w) => all.includes(w))) continue
      const group = s.key.includes('.') ? s.key.slice(0, s.key.indexOf('.')) : 'general'
      out.set(group, [...(out.get(group) ?? []), s])
    }
    return [...out]
  }, [settings, asked])
  if (groups.length === 0) return <p className="muted">No key is like that.</p>
  return <>{groups.map(([group, list]) => (
    <section key={group} className="card" aria-label={group}>
      <h2>{visible(group)}</h2>
      <dl className="keys">{list.map((s) => <Key key={s.key} setting={s} />)}</dl>
    </section>
  ))}</>
}

const Key = ({ setting: s }: { setting: Setting }) => (
  <div className="key">
    <dt className="mono">{visible(s.key)}</dt>
    <dd>
      <span className="row">{s.secret ? <Badge tone={s.set ? 'good' : ''}>{s.set ? 'set' : 'not set'}</Badge>
        : s.value ? <span className="mono value">{visible(s.value)}</span> : <span className="muted">not set</span>}
        {s.source && s.set && <span className="small muted">from {visible(s.source)}</span>}</span>
      <span className="small">{visible(s.about)}</span>
      <span className="small muted">read by {visible(s.reader)}</span>
    </dd>
  </div>
)

const tones: Record<Finding['status'], string> = { ok: 'good', warning: 'warn', problem: 'bad' }

// It tries things out and takes seconds: only who asks for it waits.
function Examined() {
  const [asked, setAsked] = useState(false)
  const doctor = useResource<Doctor>(asked ? '/doctor' : null)
  return (
    <section className="card stack" aria-labelledby="doctor">
      <div className="row between"><h2 id="doctor">What works here</h2>
        <button className="button small" onClick={() => { if (asked) doctor.again(); else setAsked(true) }}>{asked ? 'Try again' : 'Try it out'}</button></div>
      {!asked && <p className="small muted">Tries git, TeX, runners, connectors, skills and computers, and says how to mend what is amiss.
        It takes some seconds.</p>}
      {asked && <Ready of={doctor} what="what works here">{(d) => (
        <ul className="findings">{d.findings.map((f, i) => (
          <li key={i}><Badge tone={tones[f.status]}>{f.status}</Badge><span className="stack tight"><span><b>{visible(f.section === f.name ? f.name : `${f.section}: ${f.name}`)}</b> {visible(f.text)}</span>
            {f.fix && <span className="small muted">To mend it: {visible(f.fix)}</span>}</span></li>
        ))}</ul>
      )}</Ready>}
    </section>
  )
}
