import type { Tests } from '../../api/types'
import { questLink } from '../../route'
import { visible } from '../../text/plain'
import { Badge, duration } from '../../ui/show'
import { outcome } from './columns'
import { Raw, Told } from './told'

type Run = Tests['commands'][number]

/** TestTable is what acceptance commands said. */
export function TestTable({ title, tests, quest }: { title: string; tests: Tests; quest: string }) {
  const how = outcome(tests)
  return (
    <section className="stack tight" aria-label={title}>
      <div className="row"><h4>{title}</h4>
        <Badge tone={how === 'pass' ? 'good' : how === 'fail' ? 'bad' : 'live'}>{how === 'pass' ? 'succeeded' : how === 'fail' ? 'failed' : 'running'}</Badge>
        {tests.duration_us !== undefined && <span className="small muted">{duration(tests.duration_us / 1e6)}</span>}
        <a className="small" href={questLink(quest, 'timeline', { seq: tests.seq ?? tests.call })}>event {tests.seq ?? tests.call}</a>
      </div>
      <Told text={tests.error} />
      {tests.commands.length === 0 && <ul className="small mono">{tests.wanted.map((c, i) => <li key={i}>{visible(c)}</li>)}</ul>}
      {tests.commands.map((c, i) => <One key={i} run={c} />)}
    </section>
  )
}

function One({ run: r }: { run: Run }) {
  const good = r.exit === 0 && !r.end
  const counts = [r.passed && `${r.passed} passed`, r.failed && `${r.failed} failed`, r.skipped && `${r.skipped} skipped`].filter(Boolean).join(', ')
  return (
    <div className="stack tight test">
      <div className="row small"><code>{visible(r.command)}</code>
        <Badge tone={good ? 'good' : 'bad'}>{r.end ? visible(r.end) : `exit ${r.exit}`}</Badge>
        {counts && <span className="muted num">{counts}</span>}</div>
      {r.tail && <pre className={good ? 'pre small' : 'pre small failed'} tabIndex={0}>{visible(r.tail.replace(/\n$/, ''))}</pre>}
      {r.output.size > 0 && <Raw log={r.output} name="output.txt">All that it printed</Raw>}
    </div>
  )
}
