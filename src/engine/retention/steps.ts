import { setImmediate as turn } from 'node:timers/promises'
import { deleteDocuments } from '../documents/delete.js'
import { isRead } from '../rows/held-leases.js'
import { removeTrace } from '../rows/purge/parts.js'
import {
  removeStepEvidence,
  removeTask,
  stepEvidenceBefore,
  tasksEndedBefore,
  tracesBefore,
} from '../rows/retention/answers.js'
import {
  documentsBefore,
  inactiveNodes,
  markObsolete,
  removeInactiveNodes,
  removePublication,
  removeSupersededModel,
  removeVector,
  replacedPublications,
  supersededModel,
  supersededVersions,
} from '../rows/retention/versions.js'
import { inOneWrite, NOTHING, type Slice } from '../storage/slices.js'
import { collectedCommits, endedBulkJobs, endedJobs } from './ended-work.js'
import { failedCommits } from './failed-commits.js'
import { cutoff, type Scope, type Step } from './slice.js'

/** deleting a document touches its versions, jobs, commits and the indexes: limits the size of a transaction */
const DOCUMENTS_AT_ONCE = 20
/** the subject of deletions of expired documents */
const SUBJECT = 'retention'

/** Removes answer traces with their steps and evidence bundles, oldest first. */
async function traces({ context: { db }, space, rules, now, batchRows }: Scope): Promise<Slice> {
  const before = cutoff(now, rules.answerTraceRetentionDays)
  const rows = await db.read(tracesBefore(space.key, before, batchRows))
  return inOneWrite(db, rows, batchRows, removeTrace)
}

/** Removes ended research tasks with their evidence and reports: they are answers too. */
async function researchTasks({ context: { db }, space, rules, now, batchRows }: Scope): Promise<Slice> {
  const before = cutoff(now, rules.answerTraceRetentionDays)
  const rows = await db.read(tasksEndedBefore(space.key, before, batchRows))
  return inOneWrite(db, rows, batchRows, removeTask)
}

/** Removes evidence of the steps of research tasks; the last piece belongs to the report and stays with it. */
async function stepEvidence({ context: { db }, space, rules, now, batchRows }: Scope): Promise<Slice> {
  const before = cutoff(now, rules.evidenceCacheRetentionDays)
  const rows = await db.read(stepEvidenceBefore(space.key, before, batchRows))
  return inOneWrite(db, rows, batchRows, removeStepEvidence)
}

/** Deletes raw documents, as a user would. */
async function rawDocuments({ context, space, rules, now, batchRows }: Scope): Promise<Slice> {
  if (rules.rawDocumentRetentionDays === null) return NOTHING
  const limit = Math.min(DOCUMENTS_AT_ONCE, batchRows)
  const before = cutoff(now, rules.rawDocumentRetentionDays)
  const rows = await context.db.read(documentsBefore(space.key, before, limit))
  if (rows.length === 0) return NOTHING
  const ids = rows.map(({ id }) => id)
  await deleteDocuments(context, { tenant: space.tenant, subject: SUBJECT, isDaemon: true }, space.id, ids)
  return { removed: rows.length, more: rows.length === limit }
}

/**
 * Marks superseded versions beyond the retained number as obsolete; the purge removes them when no snapshot can show
 * them.
 */
async function artifactVersions({ context, space, rules, now, batchRows, signal }: Scope): Promise<Slice> {
  const { db } = context
  let after = { doc_key: 0, version: 0 }
  let removed = 0
  while (!signal.aborted) {
    const page = await db.read(supersededVersions(space.key, after, batchRows))
    const beyond = page.filter(({ newer }) => newer >= rules.parseArtifactVersions)
    await db.write(() => markObsolete(beyond, now))
    removed += beyond.length
    const last = page.at(-1)
    if (last === undefined || page.length < batchRows) break
    after = last
    await turn()
  }
  if (removed > 0) context.wake()
  return { removed, more: false }
}

/** Removes nodes and vectors of versions that were superseded long ago; their parse artifacts stay readable. */
async function supersededNodes(scope: Scope): Promise<Slice> {
  const { context, space, rules, now, batchRows } = scope
  const { db } = context
  const before = cutoff(now, rules.inactiveProjectionRetentionDays)
  // a running query may have started before they became inactive
  if (await db.read(isRead(context, space.key, before))) return NOTHING
  const inactive = await db.read(inactiveNodes(space.key, before, batchRows))
  if (inactive === undefined) return NOTHING
  const areLast = inactive.nodes.length < batchRows
  const removed = await db.write(() => removeInactiveNodes(space.key, inactive, areLast), { lock: space.key })
  return { removed, more: true }
}

/** Removes the vectors of replaced models; training removes them itself, unless it was interrupted. */
async function supersededModels({ context, space, rules, now, batchRows }: Scope): Promise<Slice> {
  const { db } = context
  const before = cutoff(now, rules.inactiveProjectionRetentionDays)
  const model = await db.read(supersededModel(space.key, before, batchRows))
  if (model === undefined) return NOTHING
  if (model.vectors.length > 0) {
    const { removed } = await inOneWrite(db, model.vectors, batchRows, ({ node_key }) =>
      removeVector(model.key, node_key),
    )
    return { removed, more: true }
  }
  await db.write(() => removeSupersededModel(model.key))
  context.lsa.unload(model.id)
  return { removed: 1, more: true }
}

/** Removes publications that were replaced long ago. A snapshot that is still read is younger than a day. */
async function oldPublications({ context: { db }, space, rules, now, batchRows }: Scope): Promise<Slice> {
  const before = cutoff(now, rules.inactiveProjectionRetentionDays)
  const oldest = await db.read(replacedPublications(space, batchRows))
  const rows = oldest.filter(({ replaced_at }) => replaced_at !== null && replaced_at < before)
  return inOneWrite(db, rows, batchRows, removePublication)
}

/**
 * The order matters: the age of nodes comes from the publication that replaced them, so publications follow; jobs stay
 * as long as a bulk job or a failed commit needs them.
 */
export const STEPS: readonly [name: string, step: Step][] = [
  ['traces', traces],
  ['researchTasks', researchTasks],
  ['stepEvidence', stepEvidence],
  ['documents', rawDocuments],
  ['artifactVersions', artifactVersions],
  ['nodes', supersededNodes],
  ['models', supersededModels],
  ['publications', oldPublications],
  ['commits', failedCommits],
  ['bulkJobs', endedBulkJobs],
  ['jobs', endedJobs],
  ['collectedCommits', collectedCommits],
]
