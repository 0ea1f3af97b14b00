/** Lists of values that the contract, the engine and the options of the command line share. Free of zod. */

export const QUERY_MODES = ['fast', 'deep', 'research', 'auto'] as const
/** what `auto` resolves to */
export const CONCRETE_MODES = ['fast', 'deep', 'research'] as const

export const FAILED_QUERY_STATUSES = [
  'pending-triage',
  'triaged',
  'pending-annotation',
  'annotated',
  'dismissed',
  'promoted',
] as const
/** what a person decides */
export const FAILED_QUERY_VERDICTS = ['retrieval-miss', 'coverage-gap', 'irrelevant'] as const

export const RESEARCH_STAGES = [
  'queued',
  'planning',
  'retrieving',
  'analyzing',
  'generating',
  'completed',
  'failed',
  'canceled',
] as const

/** the steps of a commit on its way, in their order */
export const STAGED_COMMIT_STEPS = [
  'received',
  'object-staged',
  'object-verified',
  'metadata-prepared',
  'artifacts-built',
  'nodes-built',
  'projections-built',
] as const

export const STAGED_COMMIT_STATUSES = [
  ...STAGED_COMMIT_STEPS,
  'published',
  'failed-retryable',
  'failed-terminal',
  'canceled',
  'gc-pending',
  'gc-complete',
] as const

/** in the order of a job's way, with the two other ends */
export const JOB_STAGES = [
  'queued',
  'parsed',
  'outline_built',
  'nodes_generated',
  'projection_built',
  'smoke_eval_passed',
  'published',
  'failed',
  'canceled',
] as const

/** which jobs of a space are listed */
export const JOB_STATES = ['open', 'failed', 'reading'] as const

/** what the reading of a file counts */
export const READING_UNITS = ['page', 'slide', 'sheet', 'chapter', 'entry'] as const

export const EVIDENCE_STATES = [
  'answerable',
  'partial',
  'not-enough-evidence',
  'conflict',
  'permission-limited',
] as const

export const ANSWER_CORRECTNESS = ['correct', 'incorrect', 'not-answerable', 'partially-correct'] as const

export const SOURCE_TYPES = ['upload', 'object-storage', 'connector', 'web'] as const

export const ENTITY_TYPES = ['date', 'metric', 'organization', 'person', 'policy', 'product', 'term'] as const
export const RELATION_TYPES = ['contradicts', 'defines', 'depends_on', 'mentions', 'references', 'supersedes'] as const

/** what an entry of the virtual file system stands for */
export const RESOURCE_TYPES = ['source', 'document', 'node', 'artifact', 'evidence', 'workspace'] as const

/** what an answer may have to do without */
export const DEGRADED_PARTS = [
  'route',
  'embedding',
  'text-index',
  'vectors',
  'page-index',
  'graph',
  'rerank',
  'plan',
  'answer',
] as const
/** why it has to: what helps is another thing for each */
export const DEGRADED_CLASSES = [
  'auth',
  'rate-limited',
  'context-too-long',
  'budget-spent',
  'unavailable',
  'timeout',
] as const

/** of a move to another embedding model; `waiting` for its provider, then `filling` again */
export const MIGRATION_STATES = ['filling', 'waiting', 'published', 'failed', 'canceled'] as const

/** in what two statements of a space disagree */
export const CONFLICT_KINDS = ['number', 'date', 'negation', 'opposite', 'alternative'] as const
/** both cannot hold; or one follows the other in time or version; or they are of different things */
export const CONFLICT_RELATIONS = ['contradiction', 'newer', 'other'] as const
export const COMMUNITY_WRITERS = ['rules', 'model'] as const
/** of reading a whole space for its graph; `waiting` for its model, then `reading` again */
export const GRAPH_READING_STATES = ['reading', 'waiting', 'completed', 'budget-spent', 'failed', 'canceled'] as const
