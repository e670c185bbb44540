// What lyceum diff --json says; the OpenAPI document leaves it to docs/cli.md.
export type Side = {
  name: string; rules: string; seed: string; status: string; models: string[]; events: number; hash: string
  turns: number; tool_calls: number; input_tokens: number; output_tokens: number; cost_usd: string; unpriced_calls?: number
}
export type TextDiff = { same: boolean; a: boolean; b: boolean; unified: string }
export type Step = {
  seq: number; last: number; actor: string; kind: string; tool?: string; text: string
  duration?: number; failed?: boolean; waiting?: boolean
}
export type Pair = { mark: 'same' | 'changed' | 'only a' | 'only b'; similarity: number; differs: string[] | null; a: Step | null; b: Step | null }
export type Overlap = { same: number; only_a: number; only_b: number }
export type Anchor = { doc?: string; paragraph?: number; title?: string; hash?: string }
export type Lasted = { count: number; sum: number; median: number }
export type Diff = {
  a: Side
  b: Side
  shared_events: number
  similarity: { total: number; answer: number; steps: number; tools: number }
  spec: TextDiff
  answer: TextDiff
  steps: Overlap & { changed: number; pairs: Pair[] | null }
  outputs: Overlap & { workspaces: { agent: string; a: string; b: string; same: boolean }[] | null }
  tools: { tool: string; a: number; b: number; same_arguments: number }[] | null
  evidence: { anchors: Overlap; documents: Overlap; anchors_only_a: Anchor[] | null; anchors_only_b: Anchor[] | null }
  latency: { kind: string; a: Lasted; b: Lasted }[] | null
}
