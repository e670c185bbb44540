import type { NewFile, Options } from '../../api/types'
import { favourite, societyOf } from '../../society'
import type { Asking } from '../../society/society'

/** Draft is what stands in the form, as it was typed. */
export type Draft = {
  name: string
  society: string
  problem: string
  model: string
  computer: string
  seed: string
  cost: string
  turns: string
  duration: string
} & Record<Asking, string>

export function blank(options: Options): Draft {
  return {
    name: '', society: favourite(options.societies), problem: '',
    model: options.default_model || options.demo_model, agents: '3', reviewers: '', decision: '', profile: '', audit: '',
    computer: '', seed: '', cost: '', turns: '', duration: '',
  }
}

/** dataFolder is where files stand that were dropped on the form. */
export const dataFolder = 'data'

/** nameFor makes a name of a question: its first words. */
export const nameFor = (question: string): string =>
  (question.toLowerCase().match(/[a-z0-9]+/g) ?? []).join('-').slice(0, 40).replace(/-[^-]*$/, (end) => (question.length > 40 ? '' : end)).replace(/^[^a-z]+|-+$/g, '')

// A figure that is none goes to the server as it was typed: what is wrong with it is
// said there, in the same words as everywhere.
const figure = (text: string): number | string => (/^\d+$/.test(text.trim()) ? Number(text.trim()) : text.trim())

/** specOf is the quest.yaml that a draft means; what was left empty is left out. */
export function specOf(draft: Draft, files: readonly NewFile[] = []): Record<string, unknown> {
  const { question, fields } = societyOf(draft.society)
  const limits: Record<string, unknown> = {}
  if (draft.cost.trim()) limits.cost = draft.cost.trim()
  if (draft.turns.trim()) limits.turns = figure(draft.turns)
  if (draft.duration.trim()) limits.duration = draft.duration.trim()
  const spec: Record<string, unknown> = {
    name: draft.name.trim() || undefined,
    society: draft.society,
    [question]: draft.problem,
    model: draft.model.trim() || undefined,
    ...Object.fromEntries(fields.map(({ name, values }) => [name, draft[name].trim() ? (values ? draft[name] : figure(draft[name])) : undefined])),
    computer: draft.computer || undefined,
    data: files.length > 0 ? dataFolder : undefined,
    seed: draft.seed.trim() ? figure(draft.seed) : undefined,
    limits: Object.keys(limits).length > 0 ? limits : undefined,
  }
  return Object.fromEntries(Object.entries(spec).filter(([, value]) => value !== undefined))
}
