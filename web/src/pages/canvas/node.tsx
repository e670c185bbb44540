import { Handle, Position, type Node as FlowNode, type NodeProps } from '@xyflow/react'
import { memo } from 'react'
import type { Node } from '../../api/types'
import { visible } from '../../text/plain'

export type Data = { node: Node; status?: string; faint: boolean; fresh: boolean; joined: boolean }
export type Shown = FlowNode<Data, 'thing'>

const good = /^(PUBLISHED|ACCEPT|stands|done|completed|awarded|answered|justified|settled|held|accepted|accept|approved|checked|passed|merged)$/i
const bad = /^(REJECTED|REJECT|defeated|failed|open challenge|unjustified|broken|lost|error|refuse|conflict|scope|manifest|acceptance|timeout|memory|calls|executor)$/i
const open = /^(SUBMITTED|open|running|waiting|challenged|unresolved|tendered|working|proposed|narrow)$/i

export function toneOf(status: string | undefined): string {
  if (!status) return ''
  if (good.test(status)) return 'good'
  if (bad.test(status)) return 'bad'
  return open.test(status) ? 'open' : ''
}

/** Thing is a node as it is drawn: what it is, what it is called, and by its edge how it stands. */
export const Thing = memo(function Thing({ data, selected }: NodeProps<Shown>) {
  const { node, status, faint, fresh, joined } = data
  const tone = node.kind === 'challenge' && status !== 'justified' ? 'bad' : toneOf(status)
  return (
    <div className={`thing kind-${node.kind} ${tone} ${selected ? 'selected' : ''} ${faint ? 'faint' : ''} ${fresh ? 'fresh' : ''} ${joined ? 'joined' : ''}`}>
      <Handle type="target" position={Position.Left} isConnectable={false} />
      <span className="kind">{node.kind}{status && <span className="status"> {status.toLowerCase()}</span>}</span>
      <span className="label">{visible(node.label)}
        {node.kind === 'review' && node.agent && <span className="status"> · {node.agent}</span>}</span>
      <Handle type="source" position={Position.Right} isConnectable={false} />
    </div>
  )
})
