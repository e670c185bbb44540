import type { Paper } from '../../api/types'
import { Badge } from '../../ui/show'

export function PaperStatus({ status }: { status: string }) {
  switch (status) {
    case 'PUBLISHED': return <Badge tone="good">published</Badge>
    case 'REJECTED': return <Badge tone="bad">rejected</Badge>
    default: return <Badge tone="warn">under review</Badge>
  }
}

const tones = { 'same output twice': 'good', differs: 'bad', failed: 'bad', running: 'live' } as const
const words = { 'same output twice': 'same output twice', differs: 'output differs', failed: 'program failed', running: 'running again' } as const

/** Reproduced says what came of a paper's program. Where a claim is not in its output, the same output twice is nothing good. */
export const Reproduced = ({ status, missing = [] }: { status: NonNullable<Paper['reproduction']>; missing?: string[] }) => missing.length > 0
  ? <Badge tone="bad">{words[status]}, {missing.length === 1 ? 'a claim is' : `${missing.length} claims are`} not in it</Badge>
  : <Badge tone={tones[status]}>{words[status]}</Badge>
export const Grade = ({ grade }: { grade: string }) => <Badge tone={grade === 'ACCEPT' ? 'good' : 'bad'}>{grade === 'ACCEPT' ? 'accept' : 'reject'}</Badge>
