import { Handle, Position, type Node as FlowNode, type NodeProps } from '@xyflow/react'
import { memo } from 'react'
import type { Node } from '../../api/types'
import { flat, visible } from '../../text/plain'

export type Data = { node: Node; marks: Node[]; votes: number; status?: string; faint: boolean; found: boolean; fresh: boolean; joined: boolean }
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

/** toneOfNode is how a node stands, as a colour and a shape tell it. */
export const toneOfNode = (node: Node, status: string | undefined) => (node.kind === 'challenge' && status !== 'justified' ? 'bad' : toneOf(status))

const signs: Record<string, string> = { good: '✓', bad: '✗', open: '○', '': '·' }
const most = 9

/** Mark is a small thing on the card to which it belongs. */
export function Mark({ node }: { node: Node }) {
  const tone = toneOf(node.status)
  return <span className={`mark ${tone}`} data-mark={node.id} title={flat(`${node.kind} of ${node.agent ?? 'somebody'}: ${node.label}`)}>{signs[tone]}</span>
}

/** Thing is a node as it is drawn: what it is, what it is called, what belongs to it, and by its edge how it stands. */
export const Thing = memo(function Thing({ data, selected }: NodeProps<Shown>) {
  const { node, marks, votes, status, faint, found, fresh, joined } = data
  const on = Object.entries({ selected, faint, found, fresh, joined }).filter(([, is]) => is).map(([name]) => name)
  return (
    <div className={['thing', `kind-${node.kind}`, toneOfNode(node, status), ...on].filter(Boolean).join(' ')}>
      <Handle type="target" position={Position.Left} isConnectable={false} />
      <span className="kind">{node.kind}{status && <span className="status"> {status.toLowerCase()}</span>}
        {node.agent && node.kind !== 'agent' && <span className="by"> · {node.agent}</span>}</span>
      <span className="label">{visible(node.label)}</span>
      {(marks.length > 0 || votes > 0) && (
        <span className="marks">
          {marks.slice(0, most).map((m) => <Mark key={m.id} node={m} />)}
          {marks.length > most && <span className="more">+{marks.length - most}</span>}
          {votes > 0 && <span className="mark vote" title={votes === 1 ? 'one vote' : `${votes} votes`}>▲{votes}</span>}
        </span>
      )}
      <Handle type="source" position={Position.Right} isConnectable={false} />
    </div>
  )
})
