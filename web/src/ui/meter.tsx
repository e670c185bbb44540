type Props = { label: string; used: number; limit?: number; show: (n: number) => string; said?: string; good?: boolean }

/**
 * Meter shows how much of a limit is used up. Without a limit it only says how much. said is
 * how much in words, where the number is not all of it; good says that all of it is no warning.
 */
export function Meter({ label, used, limit, show, said = show(used), good = false }: Props) {
  if (limit === undefined) {
    return <div className="meter"><div className="text"><span>{label}</span><span className="num">{said}</span></div></div>
  }
  const share = limit > 0 ? Math.min(1, used / limit) : used > 0 ? 1 : 0
  const tone = good ? '' : share >= 1 ? 'over' : share >= 0.8 ? 'near' : ''
  return (
    <div className="meter">
      <div className="text"><span>{label}</span><span className="num">{said} of {show(limit)}</span></div>
      <div className="track" role="meter" aria-label={label} aria-valuenow={Math.min(used, limit)} aria-valuemin={0} aria-valuemax={limit || 1}
        aria-valuetext={`${said} of ${show(limit)}`}>
        <div className={`fill ${tone}`} style={{ width: `${share * 100}%` }} />
      </div>
    </div>
  )
}
