import type { Paper } from '../../api/types'
import { Badge } from '../../ui/show'

export function PaperStatus({ status }: { status: string }) {
  switch (status) {
    case 'PUBLISHED': return <Badge tone="good">published</Badge>
    case 'REJECTED': return <Badge tone="bad">rejected</Badge>
    default: return <Badge tone="warn">under review</Badge>
  }
}

const tones = { reproduced: 'good', differs: 'bad', failed: 'bad', running: 'live' } as const
const words = { reproduced: 'reproduced', differs: 'output differs', failed: 'program failed', running: 'running again' } as const

export const Reproduced = ({ status }: { status: NonNullable<Paper['reproduction']> }) => <Badge tone={tones[status]}>{words[status]}</Badge>
export const Grade = ({ grade }: { grade: string }) => <Badge tone={grade === 'ACCEPT' ? 'good' : 'bad'}>{grade === 'ACCEPT' ? 'accept' : 'reject'}</Badge>
