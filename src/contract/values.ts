/** Lists of values that the contract, the engine and the command line share. Free of zod. */

export const QUERY_MODES = ['fast', 'deep', 'research', 'auto'] as const
/** Results of resolving `auto`. */
export const CONCRETE_MODES = ['fast', 'deep', 'research'] as const

export const FAILED_QUERY_STATUSES = [
  'pending-triage',
  'triaged',
  'pending-annotation',
  'annotated',
  'dismissed',
  'promoted',
] as const
/** Decisions of a person. */
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

/** Steps of a running commit, in order. */
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

/** In order of progress, then the two other final stages. */
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

/** Filters of the job list of a space. */
export const JOB_STATES = ['open', 'failed', 'reading'] as const

/** Units in which the reading of a file is counted. */
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

/** Types of entries in the virtual file system. */
export const RESOURCE_TYPES = ['source', 'document', 'node', 'artifact', 'evidence', 'workspace'] as const

/** Parts of an answer that can fail. */
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
  'space',
  'document',
] as const
/** Classes of failures, one for each remedy. */
export const DEGRADED_CLASSES = [
  'auth',
  'rate-limited',
  'context-too-long',
  'budget-spent',
  'unavailable',
  'timeout',
] as const

/** States of a migration to another embedding model: `waiting` for its provider, then `filling` again. */
export const MIGRATION_STATES = ['filling', 'waiting', 'published', 'failed', 'canceled'] as const

/** Kinds of disagreement between two statements of a space. */
export const CONFLICT_KINDS = ['number', 'date', 'negation', 'opposite', 'alternative'] as const
/** Both cannot be true; one follows the other in time or version; or their subjects differ. */
export const CONFLICT_RELATIONS = ['contradiction', 'newer', 'other'] as const
export const COMMUNITY_WRITERS = ['rules', 'model'] as const
/** States of reading a complete space for its graph: `waiting` for its model, then `reading` again. */
export const GRAPH_READING_STATES = ['reading', 'waiting', 'completed', 'budget-spent', 'failed', 'canceled'] as const

/** Error codes of files that contain no readable document: such a file is skipped. */
export const FILE_FAILURES = [
  'unsupported-type',
  'encrypted',
  'malformed',
  'empty',
  'limit-exceeded',
  'timeout',
  'crashed',
] as const
