import { z } from 'zod'
import { GoldenQuestion } from '../../contract/gateway/golden-questions.js'
import { GoldenMetrics, GoldenRunResult } from '../../contract/gateway/golden-runs.js'
import { researchEvents } from '../../contract/gateway/research.js'
import { count, positive, slug, uuid } from '../../contract/primitives.js'

/** The result of one question of `ks golden run`. */
export const CaseResult = GoldenRunResult.omit({ index: true, outcome: true, evidence: true }).meta({
  id: 'CaseResult',
})
export type CaseResult = z.output<typeof CaseResult>

/** One threshold and whether it is met. */
export const GateCheck = z.strictObject({
  name: z.string(),
  metric: z.enum(['recall', 'mrr', 'answerable', 'answer']),
  value: z.number().optional(),
  least: z.number().describe('minimum allowed value'),
  holds: z.boolean(),
})
export type GateCheck = z.output<typeof GateCheck>

const BaselineDifference = z.strictObject({
  worse: z.array(z.string()).describe('questions with lower metrics than the baseline'),
  broken: z.array(z.string()).describe('questions whose answer was right and is wrong now; also in `worse`'),
  added: z.array(z.string()).describe('questions that only the new run has'),
  removed: z.array(z.string()).describe('questions that only the baseline has'),
})
export type BaselineComparison = z.output<typeof BaselineDifference> & { checks: GateCheck[] }

/** The result of a run of golden questions. */
export const GoldenReport = z.strictObject({
  mode: z.string(),
  k: positive,
  questions: count,
  measured: count,
  unresolved: count,
  unlabelled: count,
  failed: count,
  metrics: GoldenMetrics,
  tags: z.record(z.string(), GoldenMetrics),
  checks: z.array(GateCheck),
  baseline: BaselineDifference.exactOptional(),
  passed: z.boolean().describe('whether all checks passed'),
  results: z.array(CaseResult),
})
export type GoldenReport = z.output<typeof GoldenReport>

/** A golden question as a file for `ks golden add --file` has it. */
export const ExportedQuestion = GoldenQuestion.pick({
  question: true,
  expectedEvidenceIds: true,
  expect: true,
  tags: true,
  metadata: true,
})

export const GoldenImport = z.strictObject({ imported: count, skipped: count })
export type GoldenImport = z.output<typeof GoldenImport>

/** A compilation job or a bulk job, with the fields needed to wait for it. */
export const WatchedJob = z.strictObject({
  id: z.string(),
  kind: z.enum(['document', 'bulk']),
  state: z.string(),
  ended: z.boolean(),
  error: z.string().exactOptional(),
  total: count.exactOptional(),
  completed: count.exactOptional(),
  failed: count.exactOptional(),
  reading: z.string().exactOptional().describe('progress of reading its file, such as page 120 of 872'),
})
export type WatchedJob = z.output<typeof WatchedJob>

/** An event of a research task, with the cursor after it. */
export const ResearchEvent = z.union(
  Object.entries(researchEvents).map(([event, data]) =>
    z.strictObject({ event: z.literal(event), data, cursor: z.string().exactOptional() }),
  ),
)

const FailedSpace = z.strictObject({ space: slug, id: uuid, state: z.literal('failed'), error: z.string() })

/** Describes a line of a command over all spaces: the result in a space, or why there is none. */
const describeSpace = (fields: z.ZodRawShape) =>
  z.union([z.strictObject({ space: slug, id: uuid, ...fields }), FailedSpace])

const state = z.enum(['ok', 'issues'])
export const CheckedSpace = describeSpace({ state, checked: count, issues: count, repairable: count })
export const RepairedSpace = describeSpace({ state, repairable: count, repaired: count, remaining: count })
export const GcCandidateSpace = describeSpace({ state: z.enum(['ok', 'collectable']), candidates: count, bytes: count })
export const GcRemovalSpace = describeSpace({ state: z.literal('ok'), removed: count, needed: count })
