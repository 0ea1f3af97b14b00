import { setImmediate as turn } from 'node:timers/promises'
import { deleteDocuments } from '../../library/index.js'
import { isBeingRead } from '../../store/rows/held-leases.js'
import { listGoldenRunsEndedBefore, removeGoldenRun } from '../../store/rows/quality/golden-runs.js'
import { NOTHING_REMOVED, type RemovalSlice, removeInOneWrite } from '../../store/slices.js'
import { removeTrace } from '../rows/purge/parts.js'
import {
  listExpiredTraces,
  listStepEvidenceBefore,
  listTasksEndedBefore,
  removeResearchTask,
  removeStepEvidence,
} from '../rows/retention/answers.js'
import {
  listBulkJobsEndedBefore,
  listCommitsCollectedBefore,
  removeBulkJob,
  removeCommit,
} from '../rows/retention/ended-work.js'
import {
  findInactiveNodes,
  findReplacedVectorSpace,
  listDocumentsBefore,
  listReplacedPublications,
  listSupersededVersions,
  markVersionsObsolete,
  removeInactiveNodes,
  removePublication,
  removeReplacedVectorSpace,
  removeVector,
} from '../rows/retention/versions.js'
import { ENDED_WORK_DAYS, removeEndedJobs } from './ended-work.js'
import { collectFailedCommits } from './failed-commits.js'
import { createAgeStep, getCutoff, type RetentionScope, type RetentionStep } from './slice.js'

/** deleting a document touches its versions, jobs, commits and the indexes: limits the size of a transaction */
const DOCUMENTS_PER_SLICE = 20
/** the subject of deletions of expired documents */
const SUBJECT = 'retention'

/** Deletes raw documents, as a user would. */
async function deleteRawDocuments({ context, space, rules, now, batchRows }: RetentionScope): Promise<RemovalSlice> {
  if (rules.rawDocumentRetentionDays === null) return NOTHING_REMOVED
  const limit = Math.min(DOCUMENTS_PER_SLICE, batchRows)
  const before = getCutoff(now, rules.rawDocumentRetentionDays)
  const rows = await context.db.read(listDocumentsBefore(space.key, before, limit))
  if (rows.length === 0) return NOTHING_REMOVED
  const ids = rows.map(({ id }) => id)
  await deleteDocuments(context, { tenant: space.tenant, subject: SUBJECT, isDaemon: true }, space.id, ids)
  return { removed: rows.length, more: rows.length === limit }
}

/**
 * Marks superseded versions beyond the retained number as obsolete; the purge removes them when no snapshot can show
 * them.
 */
async function markObsoleteVersions({
  context,
  space,
  rules,
  now,
  batchRows,
  signal,
}: RetentionScope): Promise<RemovalSlice> {
  const { db } = context
  let after = { doc_key: 0, version: 0 }
  let removed = 0
  while (!signal.aborted) {
    const page = await db.read(listSupersededVersions(space.key, after, batchRows))
    const obsolete = page.filter(({ newer }) => newer >= rules.parseArtifactVersions)
    await db.write(() => markVersionsObsolete(obsolete, now))
    removed += obsolete.length
    const last = page.at(-1)
    if (last === undefined || page.length < batchRows) break
    after = last
    await turn()
  }
  if (removed > 0) context.wake()
  return { removed, more: false }
}

/** Removes nodes and vectors of versions that were superseded long ago; their parse artifacts stay readable. */
async function removeSupersededNodes(scope: RetentionScope): Promise<RemovalSlice> {
  const { context, space, rules, now, batchRows } = scope
  const { db } = context
  const before = getCutoff(now, rules.inactiveProjectionRetentionDays)
  // a running query may have started before they became inactive
  if (await db.read(isBeingRead(context, space.key, before))) return NOTHING_REMOVED
  const inactive = await db.read(findInactiveNodes(space.key, before, batchRows))
  if (inactive === undefined) return NOTHING_REMOVED
  const areLast = inactive.nodes.length < batchRows
  const removed = await db.write(() => removeInactiveNodes(space.key, inactive, areLast), { lock: space.key })
  return { removed, more: true }
}

/** Removes the vectors of replaced models; training removes them itself, unless it was interrupted. */
async function removeReplacedModels({ context, space, rules, now, batchRows }: RetentionScope): Promise<RemovalSlice> {
  const { db } = context
  const before = getCutoff(now, rules.inactiveProjectionRetentionDays)
  const model = await db.read(findReplacedVectorSpace(space.key, before, batchRows))
  if (model === undefined) return NOTHING_REMOVED
  if (model.vectors.length > 0) {
    const { removed } = await removeInOneWrite(db, model.vectors, batchRows, ({ node_key }) =>
      removeVector(model.key, node_key),
    )
    return { removed, more: true }
  }
  await db.write(() => removeReplacedVectorSpace(model.key))
  context.lsa.unload(model.id)
  return { removed: 1, more: true }
}

/** Removes publications that were replaced long ago. A snapshot that is still read is younger than a day. */
async function removeOldPublications({
  context: { db },
  space,
  rules,
  now,
  batchRows,
}: RetentionScope): Promise<RemovalSlice> {
  const before = getCutoff(now, rules.inactiveProjectionRetentionDays)
  const oldest = await db.read(listReplacedPublications(space, batchRows))
  const rows = oldest.filter(({ replaced_at }) => replaced_at !== null && replaced_at < before)
  return removeInOneWrite(db, rows, batchRows, removePublication)
}

/**
 * The order matters: the age of nodes comes from the publication that replaced them, so publications follow; jobs stay
 * as long as a bulk job or a failed commit needs them.
 */
export const STEPS: readonly [name: string, step: RetentionStep][] = [
  ['traces', createAgeStep(listExpiredTraces, removeTrace, (rules) => rules.answerTraceRetentionDays)],
  // ended ones with their evidence and reports: they are answers too
  ['researchTasks', createAgeStep(listTasksEndedBefore, removeResearchTask, (rules) => rules.answerTraceRetentionDays)],
  // the last piece of evidence belongs to the report and stays with it
  [
    'stepEvidence',
    createAgeStep(listStepEvidenceBefore, removeStepEvidence, (rules) => rules.evidenceCacheRetentionDays),
  ],
  // they measure answers; a run has up to thousands of results
  [
    'goldenRuns',
    createAgeStep(listGoldenRunsEndedBefore, removeGoldenRun, (rules) => rules.answerTraceRetentionDays, 1),
  ],
  ['documents', deleteRawDocuments],
  ['artifactVersions', markObsoleteVersions],
  ['nodes', removeSupersededNodes],
  ['models', removeReplacedModels],
  ['publications', removeOldPublications],
  ['commits', collectFailedCommits],
  ['bulkJobs', createAgeStep(listBulkJobsEndedBefore, removeBulkJob, () => ENDED_WORK_DAYS)],
  ['jobs', removeEndedJobs],
  // without a job: of uploads that failed or changed nothing
  ['collectedCommits', createAgeStep(listCommitsCollectedBefore, removeCommit, () => ENDED_WORK_DAYS)],
]
