import { useEffect, useState } from 'react'

export type Verdict = { state: 'checking' } | { state: 'same' } | { state: 'different'; found: string } | { state: 'unknown'; why: string }

/** useVerdict computes a hash and says whether it is the one that was promised. */
export function useVerdict(expected: string, compute: () => Promise<string>, key: string): Verdict {
  const [held, setHeld] = useState<{ key: string; verdict: Verdict }>()
  useEffect(() => {
    let late = false
    const tell = (verdict: Verdict) => !late && setHeld({ key, verdict })
    compute().then(
      (found) => tell(found === expected ? { state: 'same' } : { state: 'different', found }),
      (error: unknown) => tell({ state: 'unknown', why: error instanceof Error ? error.message : String(error) }),
    )
    return () => { late = true }
    // The key stands for all that compute reads.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [expected, key])
  return held?.key === key ? held.verdict : { state: 'checking' }
}

/** Verified shows a hash and what this browser found when it computed it. */
export function Verified({ hash, verdict, of }: { hash: string; verdict: Verdict; of: string }) {
  const tone = verdict.state === 'same' ? 'good' : verdict.state === 'different' ? 'bad' : ''
  const words = verdict.state === 'same' ? `computed here from ${of}: the same`
    : verdict.state === 'different' ? `computed here from ${of}: ${verdict.found.slice(0, 16)}… It was changed.`
    : verdict.state === 'unknown' ? `not checked: ${verdict.why}` : 'computing…'
  return (
    <span className={`hash ${tone}`} title={hash} data-verdict={verdict.state}>
      <span aria-hidden="true">{verdict.state === 'same' ? '✓' : verdict.state === 'different' ? '✗' : '·'}</span>
      <span>sha256 {hash.slice(0, 16)}… <span className="words">{words}</span></span>
    </span>
  )
}
