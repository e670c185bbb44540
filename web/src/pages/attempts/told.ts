import type { Attempt, AttemptList, AttemptTier } from '../../api/types'
import { questLink } from '../../route'
import type { Point } from '../../ui/plot'

type Tone = 'good' | 'bad' | 'warn' | 'live'

const tiers = ['', 'Rules', 'Judges', 'Stories', 'Held-out stories']

/** tierName says who looked. */
export const tierName = (tier: number): string => (tiers[tier] ? `Tier ${tier}: ${tiers[tier].toLowerCase()}` : `Tier ${tier}`)

/** tone is how a verdict is coloured; its word stands beside it. */
export function tone(verdict: string | undefined): Tone {
  switch (verdict) {
    case 'passed': return 'good'
    case undefined: case 'judging': return 'live'
    case 'waived': case 'unavailable': case 'vacuous': case 'flaky': return 'warn'
    default: return 'bad'
  }
}

/** share is a number of thousandths, to two places. */
export const share = (thousandths: number): string => (thousandths / 1000).toFixed(2)

/** surprises are the tries of all attempts in their order, as points of a plot. */
export const surprises = (quest: string, list: AttemptList): Point[] => list.attempts
  .flatMap((a) => a.tries.map((t) => ({ a, t })))
  .filter(({ t }) => t.surprise !== undefined)
  .sort((one, two) => one.t.seq - two.t.seq)
  .map(({ a, t }) => ({
    name: `attempt ${a.attempt}, event ${t.seq}`, value: ((t.surprise ?? 0) / 1e6).toFixed(3), shape: t.unforeseen > 0 ? 'cross' : 'full',
    said: t.unforeseen > 0 ? `${t.unforeseen} unforeseen` : 'nothing unforeseen', href: questLink(quest, 'attempts', { attempt: a.attempt }),
  }))

/** pictures are those of an attempt, each once, with what they show. */
export function pictures(attempt: Attempt): { hash: string; said: string }[] {
  const all = [
    ...attempt.tiers.flatMap((t: AttemptTier) => t.stories.map((s) => ({ hash: s.seen?.picture?.hash, said: `after the story ${s.name}` }))),
    ...attempt.tries.flatMap((t) => [
      { hash: t.before?.picture?.hash, said: `before try ${t.seq}` }, { hash: t.after?.picture?.hash, said: `after try ${t.seq}` },
    ]),
  ]
  const seen = new Set<string>()
  return all.flatMap(({ hash, said }) => {
    if (!hash || seen.has(hash)) return []
    seen.add(hash)
    return [{ hash, said }]
  })
}
