import type { Checked, Detail, QuestRecord, Word } from '../../api/types'
import type { Doing } from '../../api/usejob'
import { crateLink } from '../../api/jobs'
import { Words } from '../../text/plain'
import { Progress } from '../../ui/progress'
import { bytes, count, several, When } from '../../ui/show'
import { useRecorded } from './record'

/** Proof says whether what is recorded of a quest holds, as soon as somebody asks; it hands the quest out, and says how to cite it. */
export function Proof({ quest }: { quest: Detail }) {
  const { record, check, checkNow, found, pack, packNow, end } = useRecorded()
  return (
    <section className="card stack tight record" aria-labelledby="record">
      <div className="row between">
        <h2 id="record">Record</h2>
        <span className="row">
          <button className="button" disabled={pack.state === 'busy'} onClick={packNow}>Export</button>
          <button className="button" disabled={check.state === 'busy'} onClick={checkNow}>Check now</button>
        </span>
      </div>
      <div role="status" className="stack tight">
        {check.state === 'busy' && <Progress what="Checking" job={check.job} onStop={() => end(check)} />}
        {check.state === 'failed' && <p className="note bad"><Words>{check.why}</Words></p>}
        {check.state !== 'busy' && found && <Told found={found} time={check.state === 'done' ? check.job.over ?? '' : ''} now={quest.events} />}
        {check.state !== 'busy' && !found && <Before record={record} quest={quest} />}
        {record && <p className="small"><Words>{record.words}</Words></p>}
        <Packed pack={pack} onStop={() => end(pack)} />
      </div>
      <details>
        <summary>Cite</summary>
        <p className="small">The head stands for every event up to it. Whoever gets the quest checks that it has it:</p>
        <pre className="pre" tabIndex={0}>{`sha256:${quest.hash}\nlyceum verify ${quest.name}.zip --head ${quest.hash}`}</pre>
      </details>
    </section>
  )
}

/** Before is what another look at the page has found, or somebody else. */
function Before({ record, quest }: { record?: QuestRecord; quest: Detail }) {
  const last = record?.checked
  if (!last) {
    return <p className="small muted">{several(quest.events, 'event')}, not checked here yet: whether they are a whole chain that follows from its inputs.</p>
  }
  if (last.wrong) return <p className="note bad">It differs: <Words>{last.wrong}</Words></p>
  return <p className="good"><span aria-hidden="true">✓ </span>{several(last.events, 'event')} {last.verdict}, checked <When time={last.time} /></p>
}

function Packed({ pack, onStop }: { pack: Doing; onStop: () => void }) {
  switch (pack.state) {
    case 'busy': return <Progress what="Packing" job={pack.job} onStop={onStop} />
    case 'failed': return <p className="note bad"><Words>{pack.why}</Words></p>
    case 'done': {
      const crate = pack.job.crate
      return crate && <p className="small">Packed: <a href={crateLink(pack.job.id)} download={crate.name}>{crate.name}</a>, {bytes(crate.bytes)}.
        {' '}Whoever gets it checks it with <code>lyceum verify {crate.name}</code>, or drops it on the list of quests.</p>
    }
  }
  return null
}

function Told({ found: verify, time, now }: { found: Checked; time: string; now: number }) {
  const wrong = verify.difference
  if (wrong) {
    const where = wrong.seq ? ` at event ${wrong.seq}` : wrong.file ? ` at ${wrong.file}` : ''
    return <p className="note bad">It differs<Words>{where}</Words>: <Words>{wrong.what}</Words></p>
  }
  if (verify.proof?.missing?.length) return <p className="note bad">It differs: <Words>{verify.proof.missing.join('; ')}</Words></p>
  const since = now - verify.events
  const again = verify.again
  return (
    <div className="stack tight">
      <p className="good"><span aria-hidden="true">✓ </span>{several(verify.events, 'event')} consistent, replayed identically, <When time={time} />
        {since > 0 && `; ${several(since, 'event')} since`}</p>
      <ul className="small">
        <li>{several(verify.derived, 'event')} derived again, identical</li>
        {again && again.same + again.different + again.not_checkable > 0 && (
          <li>{several(again.same + again.different + again.not_checkable, 'call')} run again: {again.same} the same,
            {' '}{again.different} different, {again.not_checkable} not checkable</li>
        )}
        {verify.words?.map((w) => <li key={`${w.kind} ${w.who ?? ''}`}>on the word of <Words>{whose(w)}</Words>: {several(w.events, 'event')}
          {w.kind === 'model' && `, ${w.named ? count(w.named) : 'none'} with the provider's id`}</li>)}
        {verify.notes?.map((note) => <li key={note}><Words>{note}</Words></li>)}
      </ul>
    </div>
  )
}

const parties = { model: 'the model', person: 'the person', server: 'the MCP server', agent: 'the agent', machine: 'the machine that ran it' }

const whose = (w: Word) => [parties[w.kind], w.who].filter(Boolean).join(' ')
