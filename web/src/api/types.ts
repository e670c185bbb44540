// Written by scripts/types.mjs from internal/api/openapi.json. Do not edit.

/** SHA-256 in lower-case hex */
export type Hash = string

/** UTC, such as 2026-01-31T12:00:00.000000Z */
export type Time = string

/** place of an event in the quest's ledger, 1, 2, 3… */
export type Seq = number

/** place of an event; 0 for none */
export type SeqOrNone = number

/** 1 to 63 of a-z, 0-9 and -, beginning with a letter or a digit */
export type Name = string

/** reference of a paper */
export type PaperRef = string

/** US dollars as a decimal number, such as 0.0125 */
export type USD = string

/** What every answer with status 400 or above holds. */
export type Error = {
  error: {
    code: 'bad_request' | 'unauthorized' | 'forbidden' | 'not_found' | 'method_not_allowed' | 'conflict' | 'too_large' | 'rate_limited' | 'internal' | 'unavailable'
    /** what happened and what to do next, for a person */
    message: string
    /** the field or parameter that is wrong, if it is one */
    field?: string
    /** all that is wrong, where several things may be */
    fields?: Array<FieldError>
    /** the one that a document has, if a save was based on another */
    revision?: Hash
  }
}

/** One thing that is wrong with a spec or a body. */
export type FieldError = {
  /** its name, such as name, problem, limits.cost; empty for the document as a whole */
  field: string
  message: string
  /** line in the YAML, from 1 */
  line?: number
}

/** Where a quest stops by itself. What is absent does not bind; 0 is a limit of zero. */
export type Limits = {
  cost_usd?: USD
  turns?: number
  tokens?: number
  seconds?: number
  /** room on the disk for what is kept of files, outputs and results */
  storage_bytes?: number
  agent?: AgentLimits
}

/** What each agent may use. */
export type AgentLimits = {
  cost_usd?: USD
  turns?: number
  tokens?: number
  seconds?: number
  /** room on the disk for what is kept of files, outputs and results */
  storage_bytes?: number
}

/** A lab's papers by status. */
export type PaperCounts = {
  published: number
  submitted: number
  rejected: number
}

/** Activity from the first event to the last in 30 buckets of equal length. */
export type Spark = {
  start: Time
  end: Time
  counts: Array<number>
}

/** A quest at a glance. */
export type Summary = {
  name: Name
  /** solo, lab or contract; empty if the quest cannot be read */
  society: string
  /** society and version, such as lab/2 */
  rules: string
  /** interrupted: it should run and no process runs it. completed_with_warnings: finished, and something stayed open. damaged and other_rules: it cannot be read, reason says why. */
  status: 'created' | 'running' | 'paused' | 'stopped' | 'exceeded' | 'finished' | 'failed' | 'interrupted' | 'completed_with_warnings' | 'damaged' | 'other_rules' | 'waiting'
  /** why it stands as it does, where somebody gave a reason */
  reason?: string
  /** some process works on it now */
  running: boolean
  /** some process has it now: it works on it, or it rests there, paused or waiting */
  held: boolean
  /** this server has it: live tokens come with its stream */
  held_here: boolean
  /** how many questions wait for a person's answer */
  open_questions: number
  /** how many */
  agents: number
  models: Array<string>
  papers?: PaperCounts
  /** agents that have a current vote */
  votes?: number
  /** null if there are calls whose cost nobody knows */
  cost_usd: USD | null
  cost_at_least_usd?: USD
  /** calls whose cost nobody knows */
  unpriced_calls: number
  /** calls whose provider did not tell what they used, so that the cost is an upper bound; absent if there are none */
  estimated_calls?: number
  /** calls that were answered from the cache of answers, at no cost; absent if there are none */
  recalled_calls?: number
  turns: number
  tool_calls: number
  tokens: number
  /** how long it has run */
  seconds: number
  limits: Limits
  events: number
  hash: Hash
  created: Time
  updated: Time
  forked_from?: {
    quest: Name
    at: Seq
    hash: Hash
  }
  activity: Spark
  verdict?: Verdict
  /** the first line of what is asked, absent if it is too long to be kept at hand */
  question?: string
}

/** What an agent is doing now. */
export type Doing = {
  /** thinking: its model was asked. running: tools were called, the first that is not done in tool. reviewing: its model was asked while a review request is open. ready: its turn comes next. answered: it has spoken and called for nothing. parked: it gets no turns until somebody speaks to it, reason says why. rules: it has no model. resting: the quest does not run. */
  kind: 'thinking' | 'running' | 'reviewing' | 'ready' | 'answered' | 'parked' | 'rules' | 'resting'
  /** the tool that runs */
  tool?: string
  /** the command line, the query or the first words of the arguments */
  command?: string
  paper?: PaperRef
  /** title of that paper */
  title?: string
  reason?: string
  since?: Time
  seq?: Seq
}

/** An agent at a glance. */
export type Agent = {
  name: string
  /** the outside agent that it is, if it is one; model is then what that one gets */
  executor?: string
  /** empty for an agent that works by rules alone */
  model: string
  doing: Doing
  turns: number
  tokens: number
  /** null if there are calls whose cost nobody knows */
  cost_usd: USD | null
  /** time that its model calls took */
  seconds: number
  /** entries of its transcript */
  messages: number
  /** its own, oldest first */
  papers: Array<PaperRef>
  open_reviews: Array<PaperRef>
  vote?: PaperRef
  tree?: Hash
  /** commands run in its computer */
  commands: number
}

/** What an agent believes, wants and intends after an event. */
export type Mind = {
  beliefs: Array<{
    seq: Seq
    belief: string
    value: string
    reason: string
  }>
  desires: Array<{
    seq: Seq
    desire: string
    reason: string
  }>
  intentions: Array<{
    seq: Seq
    intention: string
    reason: string
    dropped: boolean
    words: Array<string>
  }>
}

/** An agent. */
export type AgentDetail = {
  name: string
  /** the outside agent that it is, if it is one; model is then what that one gets */
  executor?: string
  /** empty for an agent that works by rules alone */
  model: string
  doing: Doing
  turns: number
  tokens: number
  /** null if there are calls whose cost nobody knows */
  cost_usd: USD | null
  /** time that its model calls took */
  seconds: number
  /** entries of its transcript */
  messages: number
  /** its own, oldest first */
  papers: Array<PaperRef>
  open_reviews: Array<PaperRef>
  vote?: PaperRef
  tree?: Hash
  /** commands run in its computer */
  commands: number
  at: SeqOrNone
  /** its system prompt */
  system?: string
  /** names of its tools */
  tools: Array<string>
  mind: Mind
  cost: Array<CostPoint>
}

/** What had been used up after a model's answer. */
export type CostPoint = {
  seq: Seq
  time: Time
  agent: string
  cost_usd: USD
  total_usd: USD
  input: number
  cached: number
  output: number
  total_tokens: number
  unpriced: boolean
}

/** Cost over time. Longer series are thinned: a point then stands for several answers, and sums stay exact. */
export type Cost = {
  points: Array<CostPoint>
  total_usd: USD
  total_tokens: number
  unpriced_calls: number
  by_agent: Array<{
    agent: string
    cost_usd: USD
    tokens: number
    turns: number
  }>
  limits: Limits
}

/** An entry of an agent's transcript. */
export type Message = {
  /** 0, 1, 2… */
  number: number
  seq: Seq
  time: Time
  role: 'user' | 'assistant'
  /** person, rules, a model's name, tools, or the agent that sent it */
  from: string
  parts: Array<Part>
  usage?: {
    input: number
    cached: number
    output: number
    thinking: number
  }
  cost_usd?: USD
  duration_us?: number
  /** why there is no answer */
  error?: string
}

/** A piece of a message. */
export type Part = {
  kind: 'text' | 'thinking' | 'tool_call'
  /** what was said or thought, at most 64 KiB; the rest is behind ref */
  text?: string
  ref?: Ref
  id?: string
  tool?: string
  /** arguments as the model wrote them: JSON, if it kept to it */
  args?: string
  /** seq of the tool.call or policy.blocked */
  call?: Seq
  done?: boolean
  /** what came back, at most 64 KiB */
  output?: string
  output_ref?: Ref
  output_seq?: Seq
  failed?: boolean
  duration_us?: number
  /** what came with the text, or with the result of the call */
  attachments?: Array<AttachedFile>
}

/** A picture or another file that came with a text or a result. */
export type AttachedFile = {
  /** its type, by its bytes */
  media: string
  /** what it was called: a stranger's word */
  name?: string
  ref: Ref
  /** it can be shown as a picture: GET /api/blobs/{hash} */
  picture?: boolean
}

/** A blob: GET /api/blobs/{hash}. */
export type Ref = {
  hash: Hash
  size: number
}

/** A page of a transcript, in order. */
export type Transcript = {
  messages: Array<Message>
  total: number
  /** after for the next page; absent at the end */
  next?: number
  /** before for the page before; absent at the beginning */
  previous?: number
}

/** A page of a conversation, in order, and where the study stands. A quest without one has none. */
export type Conversation = {
  /** where the study is; empty before it has begun */
  stage: string
  /** all there are, in order */
  stages: Array<string>
  moves: Array<StageMove>
  sitting?: Sitting
  utterances: Array<Utterance>
  total: number
  /** after for the next page; absent at the end */
  next?: number
  /** before for the page before; absent at the beginning */
  previous?: number
}

/** How a study came to another stage. */
export type StageMove = {
  seq: Seq
  /** who moved it */
  by: string
  /** the stage before */
  from: string
  /** the stage after */
  to: string
  /** why, in their words */
  reason: string
  /** what it rests on: ids, and numbers of events */
  because?: Array<string>
  /** a person has ordered it */
  person?: boolean
}

/** The last work from a prompt to its rest. */
export type Sitting = {
  /** counted from 1 */
  number: number
  /** what it works by */
  skill: string
  under_way: boolean
}

/** Something that was said in a study. */
export type Utterance = {
  seq: Seq
  time: Time
  /** message and answer are people's, said, question and review an agent's; news is what happened */
  kind: 'message' | 'answer' | 'said' | 'question' | 'review' | 'news'
  /** who it is from */
  by: string
  /** what an agent calls its words: progress, milestone, decision_request, approval_result or answer */
  label?: string
  text: string
  ref?: Ref
  /** who said it, as the source names them */
  sender?: string
  /** the way that it came; absent for what was said here */
  source?: string
  /** what it answers: an event */
  reply?: number
  /** the document that the text of a message is a new one of */
  document?: string
  /** of a message */
  delivery?: 'queued' | 'delivered' | 'withdrawn'
  attachments?: Array<AttachedFile>
  /** files of the agent's home that it is about */
  files?: Array<string>
  /** of a question */
  options?: Array<string>
  review?: ReviewStanding
}

/** A review of a paper, and what was done about its points. The text of the utterance is its summary. */
export type ReviewStanding = {
  /** what it is of; absent for a review of before */
  paper?: string
  revision?: number
  round: number
  /** how many there are at most */
  rounds: number
  /** the file of the materials that it stands in; absent for a reviewer's */
  source?: string
  points: Array<{
    /** over all rounds */
    number: number
    severity: 'major' | 'minor'
    text: string
    /** what was done about it; absent while it is open */
    how?: 'mended' | 'slice' | 'rebutted' | 'warning'
    /** what the researcher says to it */
    answer?: string
    /** what the answer rests on */
    because?: Array<string>
  }>
}

/** What happened in an agent's computer, in order. */
export type Terminal = {
  lines: Array<{
    seq: Seq
    time: Time
    kind: 'start' | 'run' | 'stdout' | 'stderr' | 'exit' | 'files' | 'net'
    /** id of the command */
    command?: string
    /** the command line, what was written, how it ended, which files changed */
    text: string
    ref?: Ref
    exit?: number
    call?: SeqOrNone
  }>
  /** after for the next page */
  next?: Seq
}

/** A quest. */
export type Detail = {
  name: Name
  /** solo, lab or contract; empty if the quest cannot be read */
  society: string
  /** society and version, such as lab/2 */
  rules: string
  /** interrupted: it should run and no process runs it. completed_with_warnings: finished, and something stayed open. damaged and other_rules: it cannot be read, reason says why. */
  status: 'created' | 'running' | 'paused' | 'stopped' | 'exceeded' | 'finished' | 'failed' | 'interrupted' | 'completed_with_warnings' | 'damaged' | 'other_rules' | 'waiting'
  /** why it stands as it does, where somebody gave a reason */
  reason?: string
  /** some process works on it now */
  running: boolean
  /** some process has it now: it works on it, or it rests there, paused or waiting */
  held: boolean
  /** this server has it: live tokens come with its stream */
  held_here: boolean
  /** how many questions wait for a person's answer */
  open_questions: number
  /** how many */
  agents: number
  models: Array<string>
  papers?: PaperCounts
  /** agents that have a current vote */
  votes?: number
  /** null if there are calls whose cost nobody knows */
  cost_usd: USD | null
  cost_at_least_usd?: USD
  /** calls whose cost nobody knows */
  unpriced_calls: number
  /** calls whose provider did not tell what they used, so that the cost is an upper bound; absent if there are none */
  estimated_calls?: number
  /** calls that were answered from the cache of answers, at no cost; absent if there are none */
  recalled_calls?: number
  turns: number
  tool_calls: number
  tokens: number
  /** how long it has run */
  seconds: number
  limits: Limits
  events: number
  hash: Hash
  created: Time
  updated: Time
  forked_from?: {
    quest: Name
    at: Seq
    hash: Hash
  }
  activity: Spark
  /** Markdown */
  problem: string
  /** the quest.yaml it was made of */
  spec: string
  /** unsigned 64 bit number */
  seed: string
  /** Markdown */
  answer?: string
  best?: Paper
  team: Array<Agent>
  /** those that wait for a person's answer, the oldest first */
  questions: Array<Question>
  /** the ways in which the society can work; none, if it has one alone */
  modes: Array<{
    /** what control is told */
    id: string
    name: string
    about?: string
  }>
  /** the one in which it does */
  mode?: string
  /** how many things agents have noted with what they are part of; absent if there are none */
  related?: number
  warnings: Array<string>
  policies: Array<{
    name: string
    use: string
  }>
  /** driver of the agents' computers */
  computer?: string
  lab?: {
    reviewers: number
    decision: string
    deadline: number
  }
  contract?: {
    audit: string
    corpus: boolean
    wait_until?: Time
    round: number
  }
  /** why this server's last run of it ended, if that was an error */
  trouble?: string
  /** there if the quest was imported */
  imported?: ImportedQuest
  verdict?: Verdict
  conclusion?: Conclusion
  /** the first line of what is asked, absent if it is too long to be kept at hand */
  question?: string
}

/** A line of the ledger, to the byte. The bodies are described in docs/events.md. */
export type Event = {
  actor: string
  body: Record<string, unknown>
  hash: Hash
  parent: SeqOrNone
  quest: Name
  seq: Seq
  time: Time
  tool: string
  type: string
}

/** what an event says to people: one line without control characters, its texts shortened. Where it names nobody, the event's actor did it. */
export type Line = string

/** A page of the ledger, ascending. */
export type EventPage = {
  events: Array<{
    /** it came from outside; all others the rules derived */
    input: boolean
    event: Event
    line: Line
  }>
  /** the last event there is */
  head: number
  /** after for the page after this one; absent if the ledger ends here. With a filter a page may be short or empty and still have a next. */
  next?: SeqOrNone
  /** before for the page before this one; absent if it begins with the first event. */
  previous?: Seq
}

/** The same page as Agent Client Protocol notifications (session/update). */
export type AcpPage = {
  updates: Array<{
    seq: Seq
    notification: {
      jsonrpc: '2.0'
      method: 'session/update'
      params: {
        sessionId: string
        update: {
          sessionUpdate: 'user_message_chunk' | 'agent_message_chunk' | 'agent_thought_chunk' | 'tool_call' | 'tool_call_update' | 'plan'
        }
        _meta?: Record<string, unknown>
      }
    }
  }>
  head: number
  next?: SeqOrNone
  previous?: Seq
}

/** An event, what caused it and what it led to. */
export type EventDetail = {
  event: Event
  input: boolean
  line: Line
  previous_hash: Hash
  /** the hash was computed again from the line and the hash before, and is the same */
  hash_ok: boolean
  cause?: Brief
  /** events whose parent it is, at most 200 */
  effects: Array<Brief>
  refs: Array<Ref>
}

export type Brief = {
  seq: Seq
  type: string
  actor: string
  tool: string
  time: Time
  line: Line
}

/** An index over the ledger. */
export type Timeline = {
  head: number
  /** events that pass the filter */
  matching: number
  types: Array<Count>
  actors: Array<Count>
  tools: Array<Count>
  buckets: Array<{
    first: Seq
    last: Seq
    start: Time
    end: Time
    matching: number
  }>
  /** matching events, ascending, if seqs=true; at most 2000000 */
  seqs?: Array<Seq>
  /** there are more than seqs lists */
  truncated?: boolean
  /** with joined: for each seq, how much later the event stands that ends this call; 0 for none */
  ends?: Array<number>
}

/** How often something occurs in the whole quest. */
export type Count = {
  name: string
  count: number
}

/** A paper at a glance. */
export type Paper = {
  ref: PaperRef
  title: string
  author: string
  status: 'SUBMITTED' | 'PUBLISHED' | 'REJECTED'
  seq: Seq
  time: Time
  decided?: Seq
  /** published papers of others that cite it */
  cited: number
  votes: number
  reviews: number
  accepts: number
  rejects: number
  revises?: PaperRef
  revised_by: Array<PaperRef>
  attachments: number
  reproduction?: 'same output twice' | 'differs' | 'failed' | 'running'
  /** it has the most votes */
  best: boolean
  /** the claims that its output does not hold */
  missing?: Array<string>
  /** what it claims, in a line; absent if its author named no claims */
  value?: string
}

export type Papers = {
  papers: Array<Paper>
  /** of that status */
  total: number
  counts: PaperCounts
}

export type Attachment = {
  name: string
  size: number
  hash: Hash
  entrypoint: boolean
}

export type Review = {
  paper: PaperRef
  reviewer: string
  grade: 'ACCEPT' | 'REJECT'
  /** Markdown */
  content: string
  seq: Seq
  time: Time
  confidence?: number
  /** what the paper claims, in the reviewer's words */
  claim?: string
  /** what the reviewer checked and ran, or why nothing */
  ran?: string
  /** the case that was tried against it */
  counterexample?: string
}

/** That an agent review a paper. */
export type Request = {
  reviewer: string
  state: 'open' | 'done' | 'expired'
  /** the reviewer's turn by which it is due */
  deadline: number
}

/** A paper. */
export type PaperDetail = {
  ref: PaperRef
  title: string
  author: string
  status: 'SUBMITTED' | 'PUBLISHED' | 'REJECTED'
  seq: Seq
  time: Time
  decided?: Seq
  /** published papers of others that cite it */
  cited: number
  votes: number
  reviews: Array<Review>
  accepts: number
  rejects: number
  revises?: PaperRef
  revised_by: Array<PaperRef>
  attachments: Array<Attachment>
  reproduction?: {
    status: 'same output twice' | 'differs' | 'failed' | 'running'
    reason?: string
    exit?: number
    output?: Ref
    second?: Ref
    duration_us?: number
    seq?: Seq
    /** the beginning of what it printed */
    printed?: string
    /** the claims that are not in what it printed */
    missing?: Array<string>
  }
  /** it has the most votes */
  best: boolean
  /** Markdown */
  content: string
  entrypoint?: string
  requests: Array<Request>
  /** what it cites */
  citations: Array<Link>
  /** papers that name it, whatever their status */
  cited_by: Array<Link>
  voters: Array<string>
  /** How it differs from the paper it revises. */
  revision?: {
    from: PaperRef
    /** as patches are written */
    unified: string
  }
  /** the values that it stands for */
  claims: Array<string>
  /** its author named the claims; else they are the numbers of its first paragraph */
  named: boolean
  /** published papers that seem to say the same */
  repeats: Array<Link>
}

export type Link = {
  ref: PaperRef
  title: string
  author: string
  status: string
  /** same author: it does not count */
  self: boolean
}

export type Reviews = {
  reviews: Array<Review>
  requests: Array<{
    paper: PaperRef
    reviewer: string
    state: string
    deadline: number
  }>
}

export type Citations = {
  citations: Array<{
    from: PaperRef
    to: PaperRef
    /** the citing paper is published and by another author */
    counted: boolean
    seq: Seq
  }>
}

export type Votes = {
  /** by agent */
  current: Record<string, PaperRef>
  tally: Array<{
    ref: PaperRef
    title: string
    votes: number
  }>
  history: Array<{
    seq: Seq
    time: Time
    agent: string
    /** absent: the vote was taken back */
    ref?: PaperRef
  }>
}

/** The quest as a graph. A node or edge exists from its seq on; changes say what a node became when, so that any moment of the past can be drawn from one answer. */
export type Canvas = {
  nodes: Array<Node>
  edges: Array<Edge>
  head: number
  agents: Array<string>
  /** there are more nodes than are sent */
  truncated: boolean
}

export type Node = {
  /** unique in the quest, such as paper:…, review:12, agent:agent-0, task:t1, claim:3, thing:result-1 */
  id: string
  kind: 'agent' | 'paper' | 'review' | 'task' | 'bid' | 'search' | 'computation' | 'source' | 'claim' | 'challenge' | 'justification' | 'answer' | 'person' | 'plan' | 'handover' | 'artifact' | 'tests' | 'error' | 'verdict' | 'merge' | 'baseline' | 'idea' | 'decision' | 'progress' | 'milestone' | 'run' | 'report' | 'approval' | 'graph' | 'campaign' | 'question' | 'outline' | 'structure' | 'object' | 'channel' | 'lever' | 'block' | 'attempt' | 'try'
  label: string
  /** whose it is */
  agent?: string
  /** event it came with */
  seq: number
  time: Time
  /** event that last changed it */
  last: number
  /** its status now */
  status?: string
  ref?: PaperRef
  /** the answer that it gives, the same text for all that give the same */
  says?: string
  /** a sentence or two */
  detail?: string
  changes: Array<{
    seq: Seq
    status: string
  }>
}

export type Edge = {
  id: string
  from: string
  to: string
  kind: 'cites' | 'reviews' | 'revises' | 'votes' | 'awards' | 'bids' | 'supports' | 'attacks' | 'caused-by' | 'wrote' | 'evidence' | 'decision' | 'compares' | 'supersedes'
  seq: Seq
  /** event that ended it, such as a vote that was changed */
  until?: Seq
  label?: string
}

/** What the answer of a contract net rests on. Hashes were checked for this answer. */
export type Evidence = {
  claims: Array<{
    claim: number
    text: string
    by: string
    /** stands, undecided, defeated by …, retracted: … */
    status: string
    confidence_thousandths: number
    sources: Array<number> | null
    seq: Seq
  }>
  sources: Array<{
    source: number
    kind: 'paragraph' | 'computation'
    seq: Seq
    doc?: string
    title?: string
    paragraph?: number
    relevance_billionths?: number
    score_billionths?: number
    program?: string
    engine?: string
    command?: string
    code_sha256?: string
    environment_sha256?: string
    /** the pictures that the program drew, as SVG; show them as images only */
    plots?: Array<string>
    /** the words that were found, to be marked in text */
    snippet?: string
    sha256: string
    /** the whole paragraph or output */
    text: string
    /** why it does not hold */
    broken?: string
  }>
  /** how many sources do not hold */
  broken: number
  attacks: Array<{
    from: number
    to: number
    reason: string
  }>
  challenges: Array<{
    challenge: number
    /** 0: the answer as a whole */
    claim: number
    rule: string
    reason: string
    by: string
    open: boolean
    justified?: string
    seq: Seq
  }>
  /** Markdown */
  answer?: string
}

export type Artifacts = {
  artifacts: Array<{
    name: string
    kind: 'spec' | 'problem' | 'data' | 'corpus' | 'pin' | 'attachments' | 'output' | 'code' | 'answer' | 'workspace'
    producer: string
    seq: Seq
    hash: Hash
    size: number
    /** a folder: GET /api/trees/{hash} */
    tree: boolean
  }>
  /** what a study has recorded, the oldest first; empty where there is no study */
  recorded: Array<Recorded>
}

/** A folder. */
export type Tree = {
  tree: Hash
  /** the event after which it was so */
  at?: SeqOrNone
  /** below the root, empty for the root */
  path: string
  entries: Array<{
    name: string
    kind: 'file' | 'dir' | 'link'
    size: number
    executable: boolean
    hash?: Hash
    target?: string
  }>
  /** the agent has no recorded files */
  empty?: boolean
}

/** When an agent's files changed. */
export type Versions = {
  versions: Array<{
    seq: Seq
    time: Time
    tree: Hash
    cause: string
    changes: number
  }>
}

/** An offline example. */
export type Example = {
  name: Name
  society: string
  title: string
  problem: string
  /** its quest.yaml */
  spec: string
  files: Array<string>
  /** it needs no key */
  offline: boolean
  note?: string
}

/** What a form needs. */
export type Options = {
  version: string
  /** used where a spec names none */
  default_model: string
  societies: Array<string>
  /** why some profiles are not there */
  profile_faults: Array<string>
  profiles: Array<{
    name: string
    description: string
  }>
  decisions: Array<string>
  audits: Array<string>
  computers: Array<string>
  tools: Array<string>
  programs: Array<string>
  /** a model that needs no key */
  demo_model: string
  /** models to choose from, those whose keys are there first; only for those who may make quests */
  models: Array<{
    name: string
    /** its key is there, or it needs none */
    ready: boolean
    /** the variable that holds its key */
    key?: string
    /** dollars for a million tokens that it reads */
    input_usd?: string
    /** the same for those that it writes */
    output_usd?: string
  }>
}

export type EventTypes = {
  types: Array<{
    type: string
    input: boolean
  }>
}

/** A file beside quest.yaml. One of text and base64. */
export type NewFile = {
  /** relative, with / */
  path: string
  text?: string
  base64?: string
}

/** What a quest is made of: exactly one of spec, yaml, example. */
export type NewQuest = {
  /** the members of a quest.yaml (docs/quest.schema.json) as JSON */
  spec?: Record<string, unknown>
  /** a quest.yaml */
  yaml?: string
  /** name of an example */
  example?: string
  /** instead of the one in the spec */
  name?: Name
  /** instead of those in the spec, for all agents */
  model?: string
  files?: Array<NewFile>
  /** run it at once */
  start?: boolean
}

export type Validation = {
  valid: boolean
  errors: Array<FieldError>
  name?: string
  society?: string
  /** the spec as a quest.yaml */
  yaml?: string
  /** what it will cost by what such quests took in this home; not there if it costs nothing */
  estimate?: {
    known: boolean
    /** how much, and what that rests on */
    words: string
  }
}

/** An order. */
export type Control = {
  action: 'start' | 'pause' | 'resume' | 'stop' | 'limit' | 'mode' | 'add_server' | 'remove_server' | 'fork' | 'allow'
  /** start, resume and limit: they replace those of the quest where they are set */
  limits?: Limits
  /** start and resume: models answer without thinking first */
  no_thinking?: boolean
  /** fork: the last event taken over; absent or 0 for all */
  at?: SeqOrNone
  /** fork: its name; absent makes one */
  name?: Name
  /** fork: model of every agent */
  model?: string
  /** fork: unsigned 64 bit number */
  seed?: string
  /** fork: said to the agents first */
  message?: string
  /** fork: run it at once */
  start?: boolean
  /** mode: the one in which the society is to work */
  mode?: string
  /** allow: what an imported quest may do, instead of what was allowed before */
  allow?: Allowance
  /** add_server and remove_server: the name of the MCP server */
  server?: string
  /** add_server: what a quest.yaml says of the server under mcp; timeout is a number of seconds */
  settings?: Record<string, unknown>
}

export type Controlled = {
  quest: Summary
  /** another process has the quest and was told; it acts soon */
  told: boolean
}

export type NewMessage = {
  /** 1 to 8192 bytes; may be empty or absent where there are attachments. To a study, what begins with a slash is a command, and two slashes are words that begin with one */
  text?: string
  /** an agent; absent means all */
  to?: string
  /** pictures and other files of at most 25 MiB each, and about 29 MiB together: the request has room for 40 MiB of JSON; what each of them is, its bytes say */
  attachments?: Array<NewAttachment>
  /** the way that it came, such as the name of a connector; absent for what was said here */
  source?: string
  /** who said it, as the source names them; needs source */
  sender?: string
  /** where it was said, as the source names it; needs source */
  conversation?: string
  /** what it answers: the event in which an agent said something */
  reply?: number
  /** tells the message from every other to this quest: one that is sent again with the same key, since its answer was lost, is the same message */
  key?: string
}

/** A file that goes with a message. */
export type NewAttachment = {
  /** what it is called; folders before it are left out */
  name?: string
  /** the bytes, as base64 */
  data: string
}

export type Answer = {
  /** the number of the question */
  question: number
  /** one of the question's options */
  choice?: string
  /** an answer in words, or what there is to say with the choice */
  text?: string
}

export type Question = {
  /** the seq of interaction.opened */
  id: number
  /** the agent that asks, or who else wants to do something */
  asker: string
  /** in the asker's words: text of an agent, not to be trusted */
  question: string
  /** answers to choose from; another may be given unless there is a proposal */
  options: Array<string>
  /** what somebody wants to do, such as tool.call: yes lets it happen, once */
  proposal?: string
  /** those that have a person decide */
  policies?: Array<string>
  /** the asker waits for the answer */
  blocking: boolean
  asked: Time
  expires?: Time
  /** what counts if nobody answers in time */
  default?: string
  /** there is an answer, and nobody runs the quest: it counts once somebody does */
  answered?: boolean
}

export type Posted = {
  /** number in the quest's inbox; absent for a command that was answered */
  id?: number
  /** the agents hear it in their next turn; otherwise when the quest runs */
  running: boolean
  /** the event that a message has become; absent if it was not taken yet */
  message?: number
  /** of a message: posted, it is in the inbox; queued, it is recorded and waits to be heard; delivered, an agent has it */
  delivery?: 'posted' | 'queued' | 'delivered'
  /** what there is to say to a command */
  reply?: string
}

export type Quests = {
  /** the last changed first */
  quests: Array<Summary>
}

export type Resumed = {
  /** that the server knows the secret: HMAC-SHA256 with it, in hex, of the lines server, at and nonce */
  proof?: string
  /** the server's word, good for a minute */
  challenge?: string
  /** what each request brings from now on as Lyceum-Key, beside the cookie that comes with this answer */
  key?: string
}

export type Resumption = {
  /** the session */
  id: string
  /** the address that the page is at, such as 127.0.0.1:8080; no name */
  at: string
  /** a word of 16 to 128 letters that was not used before */
  nonce: string
  /** the server's word, with the proof */
  challenge?: string
  /** that the page knows the secret: HMAC-SHA256 with it, in hex, of the lines page, at, nonce and challenge */
  proof?: string
}

/** empty for who comes with a token: there is no session */
export type Session = {
  /** the session */
  id?: string
  /** for the page's memory alone */
  secret?: string
}

/** data of a delta in the live stream. */
export type Delta = {
  agent: string
  /** the seq of the model.call that is answered; the event comes before the delta */
  call: number
  /** the answer begins with it */
  first: boolean
  /** restart: what came of this answer so far is void */
  kind: 'text' | 'thinking' | 'tool_call' | 'restart' | 'retry'
  text: string
}

/** data of a cut in the live stream. */
export type Cut = {
  reason: string
  after: SeqOrNone
}

/** data of an end in the live stream. */
export type End = {
  /** interrupted: it should run and no process runs it. completed_with_warnings: finished, and something stayed open. damaged and other_rules: it cannot be read, reason says why. */
  status: 'created' | 'running' | 'paused' | 'stopped' | 'exceeded' | 'finished' | 'failed' | 'interrupted' | 'completed_with_warnings' | 'damaged' | 'other_rules'
  head: number
  reason?: string
}

/** one of two quests that are compared: its name in this home, its name when it was made (quest), what it used, and the hash of its last event */
export type DiffSide = {
  name: Name
  quest: Name
  /** the society and the version of its rules, such as lab/3 */
  rules: string
  /** where its random choices begin; up to 64 bits, and so a text */
  seed: string
  /** what its ledger says; whether somebody has it, the ledger does not know */
  status: 'created' | 'running' | 'paused' | 'stopped' | 'finished' | 'failed' | 'exceeded'
  /** those of its agents, each once */
  models: Array<string>
  /** how many its ledger has */
  events: number
  hash: Hash
  /** model calls */
  turns: number
  /** calls of tools */
  tool_calls: number
  /** tokens that models read */
  input_tokens: number
  /** tokens that models wrote */
  output_tokens: number
  cost_usd: USD
  /** calls whose price nobody knows; absent if there are none */
  unpriced_calls?: number
}

/** two texts */
export type TextDiff = {
  /** whether both have it, or neither, and to the byte */
  same: boolean
  /** whether a has such a text */
  a: boolean
  /** whether b has such a text */
  b: boolean
  /** the difference as patches are written, empty if they are the same */
  unified: string
}

/** a step of a quest, with the hashes of what went in and what came out, without what is another in every run */
export type DiffStep = {
  seq: Seq
  /** the event that it ended with, that it began with if it has not ended */
  last: number
  /** who took it */
  actor: string
  /** turn, tool, blocked, message, search, compute and others, named after their event */
  kind: string
  /** what was used: a tool, a method of search, what a program was run by */
  tool?: string
  /** what it says, in a line */
  text: string
  arguments?: Hash
  output?: Hash
  /** microseconds, where it is known */
  duration?: number
  /** true if it came to nothing */
  failed?: boolean
  /** true if nothing came yet */
  waiting?: boolean
}

/** how many two quests have in common */
export type Overlap = {
  /** in both */
  same: number
  /** in a only */
  only_a: number
  /** in b only */
  only_b: number
}

/** what something claimed rests on, with the hash of the paragraph, the paper or the output */
export type Anchor = {
  /** a file of the corpus, a paper, or a program that was run */
  document: string
  /** where in it */
  place: string
  hash: Hash
}

/** how long things took */
export type Lasted = {
  /** how many there were */
  count: number
  /** microseconds in all */
  sum: number
  /** microseconds; of an even number the lower of the two */
  median: number
}

/** two quests side by side, as lyceum diff --json has it */
export type Diff = {
  a: DiffSide
  b: DiffSide
  /** how many events, from the first on, are the same to the byte: one is a fork of the other, or both are of a third */
  shared_events: number
  /** how alike they are, from 0 to 1 in millionths */
  similarity: {
    /** 0.4 by the answer, 0.4 by the steps, 0.2 by the tools; exactly 1 if they are the same in all three */
    total: number
    /** of the answers */
    answer: number
    /** of the steps, aligned */
    steps: number
    /** of what tools were called, and what for */
    tools: number
  }
  spec: TextDiff
  answer: TextDiff
  /** the steps of both, aligned */
  steps: {
    /** pairs that are the same */
    same: number
    /** pairs that are not */
    changed: number
    /** steps of a without a counterpart */
    only_a: number
    /** steps of b without a counterpart */
    only_b: number
    /** in the order in which they came */
    pairs: Array<{
      /** what became of the step */
      mark: 'same' | 'changed' | 'only a' | 'only b'
      /** how alike the two are */
      similarity: number
      /** in what they are not alike */
      differs: Array<'order' | 'agent' | 'tool' | 'arguments' | 'output'>
      a: null | DiffStep
      b: null | DiffStep
    }>
  }
  /** what came out of the steps, by hash */
  outputs: {
    /** outputs that both have */
    same: number
    /** outputs of a only */
    only_a: number
    /** outputs of b only */
    only_b: number
    /** the agents' folders at the end */
    workspaces: Array<{
      /** whose folder */
      agent: string
      /** hash of the folder at the end, empty if nothing was ever written to it */
      a: string
      /** hash of the folder at the end, empty if nothing was ever written to it */
      b: string
      /** whether they are the same to the byte */
      same: boolean
    }>
  }
  /** how often each tool was called */
  tools: Array<{
    /** its name */
    tool: string
    /** calls in a */
    a: number
    /** calls in b */
    b: number
    /** calls that had the same arguments in both */
    same_arguments: number
  }>
  /** what they show for what they claim */
  evidence: {
    anchors: Overlap
    documents: Overlap
    /** those that only a has, sorted, the first 100 */
    anchors_only_a: Array<Anchor>
    /** those that only b has, sorted, the first 100 */
    anchors_only_b: Array<Anchor>
  }
  /** how long the things of each kind took */
  latency: Array<{
    /** what took it: a model's turn, a tool, a search */
    kind: string
    a: Lasted
    b: Lasted
  }>
}

/** a quest's answer in a line */
export type Verdict = {
  /** the answer itself */
  value: string
  /** the best there is, and no answer that the quest ended with */
  candidate: boolean
  /** who agrees, in words */
  agree: string
  sure: 'high' | 'medium' | 'low' | 'unchecked'
  /** why that sure */
  why: string
  /** what it stands in */
  source?: string
  votes?: number
  voters?: number
  /** other results that say the same */
  same?: number
  /** other results that say something else */
  otherwise?: number
}

/** What the owner of the home lets an imported quest do. */
export type Allowance = {
  /** its computers may reach the public hosts that it asks for */
  network?: boolean
  /** they get the open network that it asks for, this machine and its surroundings included */
  open_network?: boolean
  /** further hosts, as in network.allow, that the owner of the home named */
  hosts?: Array<string>
  /** an image may be built from the Dockerfile that it brings, without network */
  build?: boolean
  /** the same, with network */
  build_network?: boolean
}

/** What a quest that came from elsewhere asks for, and what it gets. */
export type ImportedQuest = {
  asks: {
    models: Array<string>
    /** the kind of its agents' computers; absent if they have none */
    computer?: string
    network: 'none' | 'allow' | 'open'
    hosts?: Array<string>
    /** what its image is built from, if it brings one */
    dockerfile?: string
    /** the MCP servers that it names */
    servers?: Array<{
      name: string
      /** the line that starts it in the agents' computers */
      run?: string
      url?: string
      /** why it is not used, of a quest that came from elsewhere */
      withheld?: string
    }>
  }
  allowed: Allowance
  /** what it asks for and does not get, in sentences */
  withheld: Array<string>
}

export type Checked = {
  /** consistent (verify) or identical (replay), if all holds */
  verdict: 'consistent' | 'identical' | 'differs'
  quest: string
  events: number
  inputs: number
  derived: number
  blobs: number
  /** the hash of the last event */
  head: string
  /** of verify: the calls of tools that give the same on every machine, which are always run again */
  again?: {
    same: number
    different: number
    not_checkable: number
    /** those that are not the same */
    calls: Array<Executed>
  }
  /** of verify: whose word the rest is, which is neither derived nor was made again */
  words?: Array<Word>
  /** what could not be checked here, or nobody vouches for */
  notes?: Array<string>
  /** the first thing that does not hold */
  difference?: {
    /** the event, absent if it is about a file */
    seq?: number
    file?: string
    what: string
    recorded?: string
    computed?: string
  }
  /** of verify: what checkpoints say */
  proof?: Proof
}

export type NewJob = {
  kind: 'verify' | 'replay' | 'export'
}

export type Job = {
  id: string
  kind: 'verify' | 'replay' | 'export' | 'import'
  /** of an import: when it is done */
  quest?: Name
  /** the study that is exported */
  study?: Name
  /** receiving: of an import, its crate comes in; ended: somebody ended it, or the server */
  state: 'receiving' | 'waiting' | 'running' | 'done' | 'failed' | 'ended'
  /** how far it is */
  done: number
  /** of how many; 0 as long as nobody knows */
  of: number
  unit: 'events' | 'bytes'
  started: Time
  over?: Time
  checked?: Checked
  /** of an export that is done: GET /api/jobs/{job}/crate */
  crate?: {
    /** a name for the file */
    name: string
    bytes: number
    /** of the file */
    sha256: string
  }
  /** why it failed */
  error?: {
    /** one of those of errors, or failed */
    code: string
    /** what was wrong, and what can be done */
    message: string
  }
}

export type Jobs = {
  jobs: Array<Job>
}

/** one word for a checkpoint */
export type Mark = {
  /** the name of the key, or of the authority */
  by: string
  /** the short number of the key */
  key?: string
  time?: Time
  state: 'known' | 'unknown' | 'wrong' | 'revoked'
  why?: string
}

export type JudgedCheckpoint = {
  origin: string
  /** of how many events */
  size: number
  root: string
  holds: boolean
  /** what does not hold */
  why?: string
  signed?: Array<Mark>
  witnessed?: Array<Mark>
  stamped?: Array<Mark>
}

/** what checkpoints say of a quest, by the keys and witnesses that this home believes */
export type Proof = {
  /** in one line */
  words: string
  events: number
  /** of the tree over the events */
  root: string
  /** the last 100; all were judged */
  checkpoints: Array<JudgedCheckpoint>
  /** the last that holds and a known key signed */
  last?: JudgedCheckpoint
  /** the last that holds and somebody other than the owner had seen */
  bound?: JudgedCheckpoint
  /** the first that does not hold */
  broken?: JudgedCheckpoint
  unreadable?: Array<string>
  /** what should hold and does not */
  missing?: Array<string>
}

export type QuestRecord = {
  quest: Name
  events: number
  /** the hash of the last event */
  head: string
  /** what the checkpoints are worth, in one line */
  words: string
  /** who signed the last checkpoint that holds */
  signed?: {
    by: Array<string>
    /** of how many events, from the first on */
    events: number
  }
  /** who besides the owner saw the last checkpoint that holds and that somebody saw */
  seen?: {
    by: Array<string>
    /** of how many events, from the first on */
    events: number
    /** when they had seen it, by their word */
    time?: Time
  }
  /** how many witnesses are among them */
  witnesses: number
  /** checkpoints that do not hold */
  missing?: Array<string>
  /** the last check by a job of a server of this home, absent if there was none */
  checked?: {
    verdict: 'consistent' | 'identical' | 'differs'
    events: number
    head: string
    time: Time
    /** every derived event was derived again, identical */
    replayed: boolean
    /** calls of tools that came out otherwise */
    different: number
    /** calls of tools that cannot be run again */
    not_checkable: number
    /** the first thing that does not hold */
    wrong?: string
  }
  /** the command by which whoever gets the quest checks that it has this head */
  cite: string
}

/** A call that was run again, or could not be. */
export type Executed = {
  seq: number
  actor: string
  kind: string
  what: string
  status: 'same' | 'different' | 'not checkable'
  why?: string
}

/** What rests on the word of one party. */
export type Word = {
  kind: 'model' | 'person' | 'server' | 'agent' | 'machine'
  /** the model, the person, the MCP server or the outside agent; the machine that ran the quest has no name */
  who?: string
  events: number
  /** what the provider calls the requests by; the first thousand */
  requests?: Array<string>
  /** how many of the events have such an id */
  named?: number
}

/** A text: in the answer if it is short, else in a blob. */
export type Text = {
  /** the whole, or the beginning where there is a ref; text of an agent, not to be trusted */
  text?: string
  ref?: Ref
}

export type TaskScope = {
  /** files and folders that may change; a point is all */
  include: Array<string>
  exclude?: Array<string>
  /** closed by the quest's owner or the architect */
  no_touch?: Array<string>
}

export type TaskPlan = {
  goal: string
  id: string
  scope: TaskScope
  /** commands that must succeed after the task */
  acceptance?: Array<string>
  /** tasks that have to be accepted before */
  after?: Array<string>
  /** acceptance in words */
  criteria?: Array<string>
  /** nothing may change */
  read_only?: boolean
}

/** The limits under which tasks are done. */
export type SessionLimits = {
  context_summarize_threshold: number
  /** by preference */
  executors: Array<string>
  max_clarify_rounds_per_task: number
  max_cli_calls_per_task: number
  max_cli_duration_seconds: number
  max_cli_memory_mb: number
  max_handovers_per_task: number
  max_same_error_retries: number
  max_tasks: number
  parallel: number
}

export type TestRun = {
  command: string
  exit: number
  output: Ref
  /** the limit that was met, if one was */
  end?: string
  /** tests that failed, where the output tells */
  failed?: number
  passed?: number
  skipped?: number
  /** the end of the output */
  tail?: string
}

/** Acceptance commands that ran in a fresh computer without network. */
export type Tests = {
  call: Seq
  /** the commands */
  wanted: Array<string>
  commands: Array<TestRun>
  /** why they could not be run */
  error: Text
  /** event with what they said; absent while they run */
  seq?: Seq
  duration_us?: number
}

/** A task at a glance. */
export type TaskCard = {
  id: string
  goal: string
  /** where it stands */
  state: 'planned' | 'working' | 'judging' | 'accepted' | 'failed' | 'cancelled'
  /** runs so far */
  handovers: number
  /** runs among them that went back */
  repairs: number
  /** what the last run ran */
  commands: number
  /** files that the last run changed */
  files: number
  /** lines */
  added: number
  /** lines */
  removed: number
  errors: number
  /** questions to the architect without an answer */
  waits: number
  after: Array<string>
  seq: Seq
  last: Seq
  executor?: string
  /** the agent that has it */
  worker?: string
  /** the category of the last error */
  error?: string
  tests_before?: 'pass' | 'fail'
  tests_after?: 'pass' | 'fail'
  /** why it ended so */
  reason?: string
}

export type TaskList = {
  /** in the order of the plan */
  tasks: Array<TaskCard>
  merges: Array<{
    call: Seq
    tasks: Array<string>
    files: number
    conflicts: Array<{
      path: string
      reason: string
    }>
    error: Text
    seq?: Seq
    patch?: Ref
    tree?: Hash
  }>
  plan?: {
    seq: Seq
    /** event that made it stand; absent while it is only proposed */
    approved?: Seq
    /** a person has changed it */
    edited?: boolean
    /** question that a person said yes to */
    question?: Seq
  }
  limits?: SessionLimits
  /** what the acceptance commands said of all that was made */
  whole?: Tests
}

/** A handover, and what came of it. */
export type TaskRun = {
  run: number
  executor: string
  worker: string
  seq: Seq
  time: Time
  /** what was handed over; of a repair, what is wrong */
  package: Text
  /** what it ran */
  commands: number
  errors: Array<{
    seq: Seq
    category: string
    text: Text
    exit?: number
    /** the first that failed */
    line?: string
    logs?: Ref
    /** how often it was the same in a row */
    same?: number
  }>
  /** the same executor goes on in the same session and home */
  repair?: boolean
  ended?: Seq
  /** checked, error or cancelled */
  outcome?: string
  snapshot?: {
    seq: Seq
    hash: Hash
    events: number
    text: Text
  }
  found?: {
    seq: Seq
    error: Text
    files: number
    changes: Array<{
      /** added, changed, removed, mode or link */
      kind: string
      path: string
      added?: number
      removed?: number
    }>
    /** what is wrong with the manifest */
    findings: Array<string>
    ignored: Array<{
      path: string
      reason: string
    }>
    /** changes that the scope does not allow */
    outside: Array<{
      path: string
      reason: string
    }>
    /** such changes that are not listed */
    more?: number
    patch?: Ref
    tree?: Hash
  }
  manifest?: {
    seq: Seq
    manifest_id: string
    generated_at: string
    environment_fingerprint: string
    items: Array<{
      /** what the executor says */
      checksum: string
      generated_by: string
      ref: string
      type: string
      /** what is there */
      file?: Ref
      preview?: Text
    }>
  }
  after?: Tests
  judged?: {
    seq: Seq
    /** accept, refuse or narrow */
    verdict: string
    reasons: Text
    /** lines or events that show acceptance in words */
    shown: Array<string>
    scope?: TaskScope
  }
}

export type TaskOrder = {
  /** end the task, or say something to its executor */
  action: 'cancel' | 'message'
  /** what a message says, 1 to 8192 bytes; a cancel has none */
  text?: string
}

/** A task with all that has come of it. */
export type TaskDetail = {
  id: string
  goal: string
  /** where it stands */
  state: 'planned' | 'working' | 'judging' | 'accepted' | 'failed' | 'cancelled'
  /** runs so far */
  handovers: number
  /** runs among them that went back */
  repairs: number
  /** what the last run ran */
  commands: number
  /** files that the last run changed */
  files: number
  /** lines */
  added: number
  /** lines */
  removed: number
  errors: number
  /** questions to the architect without an answer */
  waits: number
  after: Array<string>
  seq: Seq
  last: Seq
  executor?: string
  /** the agent that has it */
  worker?: string
  /** the category of the last error */
  error?: string
  tests_before?: 'pass' | 'fail'
  tests_after?: 'pass' | 'fail'
  /** why it ended so */
  reason?: string
  plan: TaskPlan
  runs: Array<TaskRun>
  asked: Array<{
    seq: Seq
    round: number
    asker: string
    question: Text
    answer: Text
    answered?: Seq
  }>
  turned: Array<{
    seq: Seq
    /** swap or narrow */
    how: string
    reason: string
    executor?: string
  }>
  /** what people said about it */
  orders: Array<{
    seq: Seq
    action: string
    by: string
    text?: string
  }>
  before?: Tests
  ended?: {
    seq: Seq
    status: string
    reason?: string
    run?: number
    patch?: Ref
    tree?: Hash
  }
}

/** A figure and what it means. */
export type Metric = {
  name: string
  /** a decimal: digits, never a float */
  value: string
  unit?: string
  direction: 'higher' | 'lower'
  /** how far two values may be apart and still be the same; absent for 0 */
  tolerance?: string
  /** of what it was measured on */
  data: Hash
}

/** Joins two nodes of a study. */
export type StudyEdge = {
  id: string
  from: string
  to: string
  /** branch, sequence and stage say what came after what; evidence goes from what something rests on to it, decision from a decision to what rests on it, compares from a result to its baseline, supersedes from the new to the old */
  kind: 'branch' | 'sequence' | 'stage' | 'evidence' | 'decision' | 'compares' | 'supersedes'
  seq: SeqOrNone
}

/** The first figure of a branch's result, and how it stands. */
export type BranchMetric = {
  name: string
  /** a decimal: digits, never a float */
  value: string
  unit?: string
  direction: 'higher' | 'lower'
  /** how far two values may be apart and still be the same; absent for 0 */
  tolerance?: string
  /** of what it was measured on */
  data: Hash
  /** id of the result */
  result: string
  /** absent until it was run again */
  verdict?: 'verified' | 'differs' | 'failed' | 'unchecked'
  /** against the baseline; absent without one */
  outcome?: 'better' | 'worse' | 'tie' | 'not comparable'
}

/** A line of work of a study. */
export type BranchNode = {
  /** its name */
  ref: string
  label: string
  branch_kind: 'main' | 'idea' | 'run' | 'analysis' | 'paper'
  /** 0 for main, 1 for ideas, runs and papers, 2 for analyses */
  tier: number
  mode: 'idea' | 'analysis'
  parent_ref?: string
  /** what ahead and behind are against */
  compare_base?: string
  /** the researcher is there */
  current: boolean
  /** event that began it; absent of main */
  seq?: Seq
  /** its last checkpoint */
  head?: Seq
  /** the result that closed it */
  closed?: Seq
  updated_at?: Time
  /** first line of what its last checkpoint says */
  subject?: string
  commit_count: number
  ahead: number
  behind: number
  /** id of its result */
  run_id?: string
  run_kind?: 'baseline' | 'main' | 'slice'
  /** the idea that it came of */
  idea_id?: string
  /** its folder in the researcher's home */
  worktree_root: string
  latest_metric?: BranchMetric
  latest_summary?: string
  /** ids, the newest first */
  recent_artifacts: Array<string>
}

/** The lines of work of a study as a graph. A quest without any has none. */
export type Branches = {
  head: SeqOrNone
  current: string
  nodes: Array<BranchNode>
  edges: Array<StudyEdge>
  views: {
    /** branches of ideas and what came of them */
    ideas: Array<string>
    /** branches that analyse results, with those that they analyse */
    analysis: Array<string>
  }
}

/** How much was done on the way to something. */
export type Deeds = {
  /** calls of tools */
  actions: number
  /** files that changed */
  files: number
  commands: number
}

/** Something that a study has come to, or a run that is open. */
export type EventNode = {
  selection_ref: string
  title: string
  /** what it is */
  kind: 'baseline' | 'idea' | 'decision' | 'progress' | 'answer' | 'milestone' | 'run' | 'report' | 'approval' | 'graph' | 'campaign' | 'question' | 'outline' | 'paper' | 'review'
  branch: string
  /** where the study was */
  stage: string
  /** the folder of its branch in the researcher's home */
  path: string
  /** what it is of; absent of an open run */
  artifact?: {
    id: string
    kind: string
    /** of a decision, or of a result that was run again */
    verdict?: string
  }
  /** the last calls of tools before it, since the thing before */
  actions: Array<{
    seq: Seq
    tool: string
  }>
  summary?: string
  counts: Deeds
  seq: SeqOrNone
  /** event that last changed it */
  last: SeqOrNone
  updated_at: Time
  /** the last checkpoint of its branch */
  head?: Seq
  changed_files: Array<string>
  /** a run without a result */
  open: boolean
  /** the body of its event, where one node is asked for */
  payload?: Record<string, unknown>
}

/** What was made at one stage in one branch. */
export type StageNode = {
  selection_ref: string
  title: string
  branch: string
  stage: string
  first: SeqOrNone
  last: SeqOrNone
  updated_at: Time
  /** selection_refs */
  events: Array<string>
  /** selection_refs of those that fell there */
  decisions: Array<string>
  summary?: string
  counts: Deeds
  changed_files: Array<string>
  current: boolean
}

/** What a study has come to as a graph, by event and by stage. */
export type NodeTraces = {
  head: SeqOrNone
  events: Array<EventNode>
  stages: Array<StageNode>
  edges: Array<StudyEdge>
  /** there are more events than are sent */
  truncated: boolean
}

/** A file that changed. */
export type ChangedFile = {
  path: string
  /** a file of the researcher's home, or a document of the quest's folder */
  kind: 'file' | 'document'
  seq?: Seq
  time?: Time
}

/** A step of a study's work. */
export type WorkflowEntry = {
  id: string
  kind: 'sitting' | 'tool' | 'artifact' | 'branch' | 'checkpoint' | 'stage' | 'baseline' | 'memory'
  seq: Seq
  time: Time
  by: string
  text: string
  /** id of what was made */
  artifact?: string
}

/** A page of a study's work, in order, and the files that changed last. */
export type Workflow = {
  entries: Array<WorkflowEntry>
  /** the newest first */
  changed_files: Array<ChangedFile>
  total: number
  /** after for the next page; absent at the end */
  next?: number
  /** before for the page before; absent at the beginning */
  previous?: number
}

/** Something that a study has recorded. */
export type Recorded = {
  id: string
  /** what it is */
  kind: 'baseline' | 'idea' | 'decision' | 'progress' | 'answer' | 'milestone' | 'run' | 'report' | 'approval' | 'graph' | 'campaign' | 'question' | 'outline' | 'paper' | 'review'
  title: string
  stage: string
  branch: string
  seq: Seq
  last: Seq
  time: Time
  summary?: string
  /** of a decision: good, bad, neutral, open; of a result: verified, differs, failed, unchecked */
  verdict?: string
  /** what follows from a decision */
  action?: string
  /** the reason of a result's verdict */
  why?: string
  /** ids and events that it rests on */
  because: Array<string>
  supersedes?: string
  replaced_by?: string
  /** of a result */
  metrics?: Array<Metric>
  entrypoint?: string
  campaign?: string
  slice?: string
  /** event of the last run of a result */
  run?: Seq
  /** event that made it a baseline */
  accepted?: Seq
}

/** Something that a study has recorded, whole. */
export type RecordedDetail = {
  id: string
  /** what it is */
  kind: 'baseline' | 'idea' | 'decision' | 'progress' | 'answer' | 'milestone' | 'run' | 'report' | 'approval' | 'graph' | 'campaign' | 'question' | 'outline' | 'paper' | 'review'
  title: string
  stage: string
  branch: string
  seq: Seq
  last: Seq
  time: Time
  summary?: string
  /** of a decision: good, bad, neutral, open; of a result: verified, differs, failed, unchecked */
  verdict?: string
  /** what follows from a decision */
  action?: string
  /** the reason of a result's verdict */
  why?: string
  /** ids and events that it rests on */
  because: Array<string>
  supersedes?: string
  replaced_by?: string
  /** of a result */
  metrics?: Array<Metric>
  entrypoint?: string
  campaign?: string
  slice?: string
  /** event of the last run of a result */
  run?: Seq
  /** event that made it a baseline */
  accepted?: Seq
  /** what its author wrote */
  text: string
  ref?: Ref
  /** files of the branch that it is about */
  files: Array<string>
  /** how a result stands to the baseline and to the best */
  against: Array<string>
  /** what the program of a result printed */
  output?: Ref
  /** the folder of a result: GET /api/trees/{hash} */
  tree?: Hash
  /** of a campaign */
  questions: Array<{
    id: string
    question: string
    /** the result that answers it */
    result?: string
  }>
}

/** A card of a study's memory. */
export type Card = {
  id: string
  kind: 'papers' | 'ideas' | 'decisions' | 'episodes' | 'knowledge' | 'templates'
  title: string
  stage: string
  tags: Array<string>
  summary: string
  revision: number
  made: Time
  changed: Time
  seq: Seq
  /** the revision that other studies are offered */
  offered?: number
  /** a person lets it into their prompts */
  approved: boolean
}

/** A card, whole. */
export type CardDetail = {
  id: string
  kind: 'papers' | 'ideas' | 'decisions' | 'episodes' | 'knowledge' | 'templates'
  title: string
  stage: string
  tags: Array<string>
  summary: string
  revision: number
  made: Time
  changed: Time
  seq: Seq
  /** the revision that other studies are offered */
  offered?: number
  /** a person lets it into their prompts */
  approved: boolean
  text: string
  ref?: Ref
  revisions: Array<{
    revision: number
    seq: Seq
    time: Time
    title: string
  }>
}

/** The cards of a study. */
export type Memory = {
  kinds: Array<string>
  /** the newest first */
  cards: Array<Card>
  total: number
}

/** A document of a quest. */
export type DocumentInfo = {
  name: string
  title: string
  /** of its text; a save names the one that was read */
  revision: Hash
  size: number
  editable: boolean
  /** why nobody can change it; absent if it can be changed */
  reason?: string
  /** the text is in the quest's inbox, and counts when the quest goes on */
  waits?: boolean
}

export type Documents = {
  documents: Array<DocumentInfo>
}

/** A document of a quest with its text. */
export type Document = {
  name: string
  title: string
  /** of its text; a save names the one that was read */
  revision: Hash
  size: number
  editable: boolean
  /** why nobody can change it; absent if it can be changed */
  reason?: string
  /** the text is in the quest's inbox, and counts when the quest goes on */
  waits?: boolean
  /** at most 64 KiB of it */
  text: string
  /** the text is only its beginning; the file of that name in the quest's folder has all of it */
  truncated: boolean
  /** the texts that people gave it, the newest first; empty for a document that follows from what happens */
  revisions: Array<DocumentRevision>
}

/** A text that a document has or had. */
export type DocumentRevision = {
  revision: Hash
  /** the event that has the text */
  seq: Seq
  time: Time
  by: string
  size: number
}

/** A person's text for a document. */
export type SavedDocument = {
  /** 1 to 65536 bytes */
  text: string
  /** the revision that was read */
  revision: Hash
  /** tells the save from every other to this quest: one that is sent again with the same key, since its answer was lost, is the same save */
  key?: string
}

/** Something that was said, on its way to a conversation elsewhere. */
export type Delivery = {
  /** names it, for lyceum connector retry and for the service */
  key: string
  /** the event that had it delivered */
  seq: Seq
  time: Time
  connector: string
  /** as the service names it */
  conversation: string
  /** the event whose words are delivered */
  said: Seq
  /** what that says, in a line */
  text: string
  /** queued: it waits for a try; sent: the service has it; dead: nobody tries any more; failed: the outbox did not take it; unknown: it is too long ago, or was delivered from another home */
  state: 'queued' | 'sent' | 'dead' | 'failed' | 'unknown'
  tries: number
  /** when it was tried last */
  last?: Time
  /** when it is tried next */
  next?: Time
  /** what was wrong with the last try; a service may have written it */
  error?: string
  /** the command that sends a dead one again */
  retry?: string
}

export type Deliveries = {
  /** the newest first, at most 500 */
  deliveries: Array<Delivery>
}

/** Something that people were told or asked, and what they said to it. */
export type Thread = {
  seq: Seq
  time: Time
  by: string
  /** progress, milestone, decision_request, approval_result, answer, or question */
  kind: string
  text: string
  ref?: Ref
  options: Array<string>
  /** said wants no answer */
  status: 'open' | 'answered' | 'superseded' | 'expired' | 'withdrawn' | 'said'
  /** the question that it is: POST answers takes it */
  interaction?: Seq
  replies: Array<{
    seq: Seq
    time: Time
    by: string
    text: string
  }>
}

export type Interactions = {
  /** the thread that waits for an answer; absent if none does */
  open?: Seq
  /** the newest first */
  threads: Array<Thread>
}

/** A step of a line of work. */
export type Checkpoint = {
  seq: Seq
  parent?: Seq
  branch: string
  by: string
  time: Time
  subject: string
  message: string
  /** GET /api/trees/{hash} */
  tree: Hash
}

export type Log = {
  /** the oldest first */
  checkpoints: Array<Checkpoint>
  total: number
  /** after for the next page; absent at the end */
  next?: number
  /** before for the page before; absent at the beginning */
  previous?: number
}

/** A file in which two lines of work differ. */
export type ComparedFile = {
  path: string
  kind: 'added' | 'changed' | 'removed'
  added: number
  removed: number
  /** it was not compared by lines */
  binary: boolean
}

/** Two lines of work side by side. */
export type Comparison = {
  base: {
    name: string
    /** its last checkpoint */
    head?: Seq
    result?: string
  }
  head: {
    name: string
    /** its last checkpoint */
    head?: Seq
    result?: string
  }
  ahead: number
  behind: number
  files: Array<ComparedFile>
  /** files that are not listed */
  more: number
  added: number
  removed: number
  metrics: Array<{
    metric: string
    outcome: 'better' | 'worse' | 'tie' | 'not comparable'
    value: string
    to?: string
    apart?: string
    why?: string
  }>
  /** how the results stand to each other, in words */
  lines: Array<string>
}

/** How a file differs between two lines of work. */
export type FileDiff = {
  path: string
  kind: 'added' | 'changed' | 'removed' | 'same'
  /** unified; empty if it was not compared by lines */
  patch: string
  binary: boolean
  added: number
  removed: number
  truncated: boolean
}

/** A baseline of the home. */
export type Baseline = {
  name: string
  title?: string
  quest?: string
  result?: string
  entrypoint?: string
  metrics: Array<Metric>
  /** of the run that it rests on */
  event?: Hash
  /** why it cannot be used */
  broken?: string
}

export type Baselines = {
  baselines: Array<Baseline>
}

/** A key of the configuration. */
export type Setting = {
  key: string
  /** absent of a secret */
  value?: string
  set: boolean
  secret: boolean
  source: 'file' | 'environment' | 'keyring' | 'default'
  about: string
  /** what goes by it */
  reader: string
}

export type Settings = {
  file: string
  exists: boolean
  settings: Array<Setting>
}

export type Finding = {
  section: string
  name: string
  status: 'ok' | 'warning' | 'problem'
  text: string
  fix?: string
}

/** What works on this machine, what does not, and what would change that. */
export type Doctor = {
  healthy: boolean
  home: string
  driver: string
  findings: Array<Finding>
}

/** What a maker declared and made. */
export type AttemptList = {
  /** in the order in which they were proposed */
  attempts: Array<Attempt>
  /** what the maker declared last */
  structure?: {
    seq: Seq
    /** each part in a line */
    parts: Array<string>
  }
}

/** Something that a maker made, and all that has come of it. */
export type Attempt = {
  /** its number, from 1 */
  attempt: number
  seq: Seq
  /** the latest event about it */
  last: Seq
  maker: string
  /** text of an agent, not to be trusted */
  intent: string
  path: string
  tree: Hash
  state: 'judging' | 'rejected' | 'unavailable' | 'passed'
  /** the last that was taken of it */
  picture?: Ref
  /** those of the maker, in words */
  stories: Array<{
    name: string
    intent: string
    steps: Array<string>
    expect: Array<string>
  }>
  tiers: Array<AttemptTier>
  marks: Array<{
    seq: Seq
    judge: string
    marks: Array<{
      criterion: string
      /** 0 to 1000 */
      mark: number
      quotation: string
    }>
  }>
  tries: Array<AttemptTry>
  reward?: {
    seq: Seq
    /** in thousandths; null if it cannot be told */
    sum: number | null
    stories: number
    accessibility: number
    conditions: number
    /** share of held-out stories that passed, in thousandths */
    held_out: number | null
  }
}

export type AttemptTier = {
  /** 1 rules, 2 judges, 3 stories, 4 held-out stories */
  tier: number
  call?: Seq
  /** event that judged; absent until then */
  seq?: Seq
  /** passed, failed, waived or unavailable; absent until it is known */
  verdict?: string
  reason?: string
  analyser?: string
  findings: Array<AttemptFinding>
  /** findings that are not listed */
  more?: number
  stories: Array<{
    name: string
    /** passed, assertion, accessibility, timeout, crash, error, vacuous, flaky or unavailable */
    verdict: string
    met: number
    of: number
    findings: Array<AttemptFinding>
    seen?: Sight
  }>
  criteria: Array<{
    criterion: string
    /** lower median of the judges */
    mark: number
  }>
  duration_us?: number
}

export type AttemptFinding = {
  check: string
  /** failed, unavailable or told */
  kind: string
  where?: string
  expected?: string
  observed?: string
  /** it blocks */
  required?: boolean
}

/** A prediction, and what was seen. */
export type AttemptTry = {
  /** the prediction */
  seq: Seq
  call?: Seq
  observed?: Seq
  steps: Array<string>
  expect: Array<{
    condition: string
    /** the declared loop that it comes from */
    loop?: string
    /** in thousandths */
    probability: number
    /** absent where nothing was seen */
    held?: boolean
    /** in millionths */
    surprise?: number
  }>
  /** done, timeout, crash, error or unavailable */
  end?: string
  error?: string
  before?: Sight
  after?: Sight
  /** changes that nobody predicted */
  unforeseen: number
  changes: Array<string>
  /** mean, in millionths */
  surprise?: number
}

/** What was seen of a thing at one time. */
export type Sight = {
  title?: string
  picture?: Ref
  text: Text
  accessibility: Text
  output: Text
  errors: Text
  exit: number
  /** console, dialogs and requests */
  lines: Array<string>
  files: Array<string>
}

export type Relations = {
  /** each below what it is part of */
  nodes: Array<{
    id: string
    type: string
    description: string
    status: 'pending' | 'in_progress' | 'done' | 'failed'
    parents?: Array<string>
    /** how deep it stands */
    depth: number
  }>
}

/** What stands behind a quest's answer: who says so and who says otherwise, what programs printed, how it came about. The value is the verdict's. */
export type Conclusion = {
  /** who agrees, in words */
  said: string
  /** what programs say to it, in words */
  printed?: string
  /** what same and of count in the history */
  counts?: 'papers' | 'claims'
  others: Array<{
    value: string
    papers: number
    ref: PaperRef
  }>
  /** papers that say so, the best first */
  carriers: Array<Paper>
  /** how many of them are left out */
  more_carriers?: number
  claims: Array<{
    claim: number
    text: string
    by: string
    status: 'made' | 'stands' | 'undecided' | 'defeated' | 'retracted'
    sources: number
    doubts: number
    open_doubts: number
  }>
  /** of an agent that works alone, the latest first */
  checks: Array<{
    seq: Seq
    tool: string
    /** its first line */
    output: string
    holds?: 'yes' | 'no' | 'failed'
  }>
  history: Array<{
    seq: Seq
    time: Time
    value: string
    /** how many say so */
    same: number
    /** of how many */
    of: number
    votes: number
    published: number
    submitted: number
    rejected: number
  }>
}

/** Who did what when, in a stretch of a quest's time. Times are in microseconds after the first event. */
export type Lanes = {
  head: number
  start: Time
  /** how long the quest has taken so far */
  long_us: number
  from_us: number
  to_us: number
  /** the first event of the stretch */
  first: number
  /** its last event */
  last: number
  lanes: Array<{
    actor: string
    bars: Array<{
      kind: 'thinking' | 'reviewing' | 'tools'
      from_us: number
      to_us: number
      seq: Seq
      /** how many were put together, of which seq is the first */
      count: number
    }>
    marks: Array<{
      kind: 'paper' | 'published' | 'rejected' | 'review' | 'vote' | 'refused' | 'claim' | 'challenge' | 'asked' | 'message' | 'answer' | 'failed'
      at_us: number
      seq: Seq
      count: number
    }>
  }>
}

/** The events of a quest that somebody who comes back wants to see first. */
export type Feed = {
  head: number
  /** how many there are in the whole ledger */
  all: number
  items: Array<{
    seq: Seq
    time: Time
    actor: string
    /** why it is of interest */
    what: 'published' | 'accepted' | 'rejected' | 'voted' | 'judged' | 'refused' | 'failed' | 'asked' | 'answered' | 'limit' | 'rested' | 'parked' | 'moved'
    /** the thing that it is about, as the society names it: a paper, a task */
    of?: string
    /** what it says to people, in one line that is safe to show */
    line: string
  }>
}

/** A study at a glance. */
export type StudyOutline = {
  study: Name
  question: string
  /** running while somebody conducts it, finished once all its quests are over, else open */
  state: 'open' | 'running' | 'finished'
  models: Array<string>
  seeds: Array<string>
  /** their labels */
  societies: Array<string>
  /** how many quests are under way at once */
  parallel: number
  /** no call under way can pass a quest's share either */
  strict: boolean
  /** how many quests it has */
  cells: number
  /** of how many it is known what came of them */
  observed: number
  /** how many of those have an answer */
  answered: number
  budget_usd: USD
  /** what quests got of it so far */
  allotted_usd: USD
  /** what those have cost that are over, at least if unpriced_calls is not 0 */
  cost_usd: USD
  unpriced_calls: number
  created: Time
  updated: Time
  events: number
  hash: Hash
  /** the most frequent first */
  answers: Array<{
    answer: string
    /** the cells that give it */
    cells: Array<number>
  }>
  /** what all its quests have cost so far, those under way included */
  spent_usd: USD
  /** what each of them may cost */
  share_usd: USD
  /** this server conducts it */
  held_here: boolean
  /** why it last did not go on here */
  trouble?: string
}

/** A cell: one combination of model, seed and society, and the quest that it becomes. */
export type StudyRow = {
  /** from 1 on */
  cell: number
  /** its label */
  society: string
  model: string
  seed: string
  quest: Name
  /** waiting without money, open with it, then what came of the quest: finished, no-agreement, budget, stopped, failed, refused */
  state: string
  /** in a line */
  answer: string
  /** the answer is one that nobody decided on */
  candidate?: boolean
  /** the number of its answer among those of the study, 0 for none */
  group: number
  /** how many cells give that answer */
  same: number
  /** who agrees within the quest */
  agree: string
  /** how sure that makes it */
  sure: string
  allotted_usd: USD
  /** so far, if the quest is under way; at least that, if unpriced_calls is not 0 */
  cost_usd: USD
  unpriced_calls: number
  seconds: number
  tokens: number
  turns: number
  events: number
  /** why it came to rest */
  reason: string
  /** how the quest stands, as its status says; not there while there is none */
  standing?: string
  /** how many of an open cell's quest wait for an answer */
  open_questions?: number
}

/** A study with its table. */
export type StudyView = {
  study: Name
  question: string
  /** running while somebody conducts it, finished once all its quests are over, else open */
  state: 'open' | 'running' | 'finished'
  models: Array<string>
  seeds: Array<string>
  /** their labels */
  societies: Array<string>
  /** how many quests are under way at once */
  parallel: number
  /** no call under way can pass a quest's share either */
  strict: boolean
  /** how many quests it has */
  cells: number
  /** of how many it is known what came of them */
  observed: number
  /** how many of those have an answer */
  answered: number
  budget_usd: USD
  /** what quests got of it so far */
  allotted_usd: USD
  /** what those have cost that are over, at least if unpriced_calls is not 0 */
  cost_usd: USD
  unpriced_calls: number
  created: Time
  updated: Time
  events: number
  hash: Hash
  /** the most frequent first */
  answers: Array<{
    answer: string
    /** the cells that give it */
    cells: Array<number>
  }>
  /** what all its quests have cost so far, those under way included */
  spent_usd: USD
  /** what each of them may cost */
  share_usd: USD
  /** this server conducts it */
  held_here: boolean
  /** why it last did not go on here */
  trouble?: string
  rows: Array<StudyRow>
}

export type Studies = {
  studies: Array<StudyOutline>
}

export type NewArm = {
  society: string
  /** what the table calls it; its society if it is missing */
  label?: string
  /** how many it has */
  agents?: number
  /** what the quest.yaml of such quests says besides */
  quest?: Record<string, unknown>
}

/** What a study is made of (docs/studies.md): each model with each seed and each society becomes a quest, 500 at most. */
export type NewStudy = {
  /** 1 to 56 of a-z, 0-9 and -, beginning with a letter or a digit */
  name?: string
  question?: string
  models?: Array<string>
  /** numbers, or ranges such as 1..3; 1 if it is missing */
  seeds?: Array<string>
  /** solo if it is missing */
  societies?: Array<NewArm>
  /** US dollars, for all quests together */
  budget_usd?: string | number
  /** how many quests are under way at once, from 1 to 16 */
  parallel?: number
  /** what every quest.yaml says besides */
  quest?: Record<string, unknown>
  /** run it at once */
  start?: boolean
}

export type StudyOrder = {
  action: 'start' | 'stop'
}

export type StudyValidation = {
  valid: boolean
  errors: Array<FieldError>
  /** how many quests it would have */
  cells: number
  /** what each may cost */
  share_usd: USD
  /** no call under way could pass that either */
  strict: boolean
  /** what it will cost by what such quests took in this home; not there if it costs nothing */
  estimate?: {
    known: boolean
    /** how much, and what that rests on */
    words: string
  }
}
