import type { Options } from '../../api/types'
import { money } from '../../ui/show'

type Model = Options['models'][number]

/** about is what is known of a model: its key and its price. */
export const about = (m: Model) => [m.ready ? 'ready' : `needs ${m.key ?? 'a key'}`,
  m.input_usd !== undefined && m.output_usd !== undefined ? `${money(m.input_usd)} in, ${money(m.output_usd)} out, a million tokens`
    : 'price unknown'].join(' · ')

/** told is what is known of the model that stands in a field. */
export function told(options: Options, name: string): string {
  const known = options.models.find((m) => m.name === name.trim())
  return known ? about(known) : `needs no key: ${options.demo_model}`
}
