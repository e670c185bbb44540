import type { ReviewStanding } from '../../api/types'
import { questLink } from '../../route'
import { visible, Words } from '../../text/plain'
import { Badge, several } from '../../ui/show'

type Point = ReviewStanding['points'][number]

const done: Record<NonNullable<Point['how']>, [string, string]> = {
  mended: ['good', 'mended'], slice: ['good', 'sent to a slice'], rebutted: ['', 'rebutted'], warning: ['warn', 'left as a warning'],
}

/** standing says what came of the points of a review, in a few words. */
export function standing({ points }: ReviewStanding): [string, string] {
  const open = points.filter((p) => !p.how).length
  const left = points.filter((p) => p.how === 'warning').length
  if (points.length === 0) return ['good', 'no points']
  if (open > 0) return ['warn', `${open} of ${several(points.length, 'point')} open`]
  if (left > 0) return ['warn', `${several(left, 'point')} left as ${left === 1 ? 'a warning' : 'warnings'}`]
  return ['good', `${points.length === 1 ? 'its point is' : `all ${points.length} points are`} answered`]
}

/** Review is what a review is of, where it stands, and its points with what was done about each. */
export function Review({ quest, of }: { quest: string; of: ReviewStanding }) {
  const [tone, word] = standing(of)
  return (
    <section className="stack tight review" aria-label="Review">
      <p className="row small">
        <Badge tone={tone}>{word}</Badge>
        {of.paper && <a href={questLink(quest, 'records', { artifact: of.paper })}>{visible(of.paper)}{of.revision && `, revision ${of.revision}`}</a>}
        <span className="muted">round {of.round} of {of.rounds}</span>
        {of.source && <span className="muted">from <span className="mono">{visible(of.source)}</span></span>}
      </p>
      {of.points.length > 0 && <ol className="stack tight points">{of.points.map((p) => <One key={p.number} quest={quest} point={p} />)}</ol>}
    </section>
  )
}

function One({ quest, point: p }: { quest: string; point: Point }) {
  const [tone, word] = p.how ? done[p.how] : ['warn', 'open']
  return (
    <li className="stack tight" value={p.number}>
      <p className="row small">
        <b className="num">{p.number}</b><Badge tone={p.severity === 'major' ? 'bad' : ''}>{p.severity}</Badge><Badge tone={tone}>{word}</Badge>
        {(p.because ?? []).map((id) => <a key={id} href={questLink(quest, 'records', { artifact: id })}>{visible(id)}</a>)}
      </p>
      <p className="told"><Words>{p.text}</Words></p>
      {p.answer && <p className="told small answered"><Words>{p.answer}</Words></p>}
    </li>
  )
}
