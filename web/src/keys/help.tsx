import { Dialog } from '../ui/dialog'
import { jumps, keys } from './keys'
import './keys.css'

/** Help lists all keys. */
export default function Help({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keys" onClose={onClose}>
      <dl className="keys">{keys.map(([key, name]) => <div key={key}><dt><kbd>{key}</kbd></dt><dd>{name}</dd></div>)}
        {jumps.map((j) => <div key={j.key}><dt><kbd>g</kbd> <kbd>{j.key}</kbd></dt><dd>{j.name}</dd></div>)}</dl>
      <div className="actions"><button className="button" onClick={onClose}>Close</button></div>
    </Dialog>
  )
}
