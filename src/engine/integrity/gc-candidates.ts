import { createHash } from 'node:crypto'
import type { GcCandidate, IntegrityTarget } from '../../contract/gateway/integrity.js'
import { defined } from '../../lib/defined.js'
import { retentionOf } from '../spaces/retention-policy.js'
import { type Read, sql } from '../storage/program.js'
import type { Scan } from './findings.js'
import { type Phase, sliceOf } from './phase.js'
import { expiredCommitRows, isCollectable, isLeftover, isShownBy } from './raw-objects.js'

const SLICE = 200
const DAY_MS = 24 * 60 * 60 * 1000

interface Collectable {
  type: GcCandidate['candidateType']
  target: IntegrityTarget
  reason: string
  count?: number
  bytes: number
  /** what else distinguishes this occasion of the same target: an object may become an orphan twice */
  occasion: string | number
}

function candidate({ space }: Scan, { type, target, reason, count, bytes, occasion }: Collectable): GcCandidate {
  const named = JSON.stringify([space.id, type, targetName(target), occasion])
  return {
    candidateType: type,
    count: count ?? 1,
    estimatedBytes: Math.max(0, Math.round(bytes)),
    idempotencyKey: `gc-${createHash('sha256').update(named).digest('hex').slice(0, 32)}`,
    reason,
    target,
  }
}

/** How a target is told from others. */
export function targetName(target: IntegrityTarget): string {
  return JSON.stringify([
    target.type,
    ...[target.id, target.objectKey, target.documentAssetId, target.parseArtifactId, target.virtualPath].map(
      (part) => part ?? null,
    ),
  ])
}

const orphans: Phase<GcCandidate> = async (scan, after) => {
  const { context, space } = scan
  const files = await context.objects.list(space.tenant, String(after ?? ''), SLICE)
  const found = files
    .filter(
      (file) =>
        file.isObject &&
        context.db.now(isCollectable(context, file, scan.now)) &&
        context.db.now(isShownBy(space, file.key)),
    )
    .map((file) =>
      candidate(scan, {
        type: 'staged-object',
        target: { type: 'raw-object', objectKey: file.key },
        reason: 'no document and no upload under way names these bytes',
        bytes: file.size,
        occasion: file.changedAt,
      }),
    )
  return sliceOf(files, SLICE, found, (file) => file.key)
}

const leftovers: Phase<GcCandidate> = async (scan, after) => {
  const files = (await scan.context.objects.listStaged()).filter(({ id }) => id > String(after ?? '')).slice(0, SLICE)
  const found = files
    .filter((file) => scan.context.db.now(isLeftover(scan.space.key, file, scan.now)))
    .map((file) =>
      candidate(scan, {
        type: 'staged-object',
        target: { type: 'raw-object', id: file.id, objectKey: `tmp/${file.id}` },
        reason: 'an upload that ended left this temporary file',
        bytes: file.size,
        occasion: file.changedAt,
      }),
    )
  return sliceOf(files, SLICE, found, (file) => file.id)
}

const commits: Phase<GcCandidate> = async (scan, after) => {
  const rows = scan.context.db.now(expiredCommitRows(scan.space.key, String(after ?? ''), scan.now, SLICE))
  const found = rows.map((row) =>
    candidate(scan, {
      type: 'failed-commit',
      target: {
        type: 'staged-commit',
        id: row.id,
        ...defined({ objectKey: row.published_object_key ?? undefined, documentAssetId: row.document_id ?? undefined }),
      },
      reason: `the commit is ${row.status} and past its time`,
      bytes: 0,
      occasion: '',
    }),
  )
  return sliceOf(rows, SLICE, found, (row) => row.id)
}

export interface AbandonedVersion {
  key: number
  doc_key: number
  version: number
  artifact_id: string
  document_id: string
  node_count: number
  bytes: number
}

/** Versions that were built and never published, whose job has ended. */
export function* abandonedVersions(spaceKey: number, after: number, limit: number): Read<AbandonedVersion[]> {
  return yield* sql.allAsStored<AbandonedVersion>(
    `SELECT versions.key, doc_key, versions.version, artifact_id, documents.id document_id, node_count,
       length(outline) + length(items) + length(artifact) bytes
     FROM versions JOIN documents ON documents.key = versions.doc_key
     WHERE versions.space_key = ? AND until_revision IS NULL AND from_revision IS NULL AND versions.key > ?
       AND documents.deleted_at IS NULL
       AND NOT EXISTS (SELECT 1 FROM jobs WHERE jobs.doc_key = versions.doc_key AND jobs.version = versions.version
                       AND completed_at IS NULL)
     ORDER BY versions.key LIMIT ?`,
    [spaceKey, after, limit],
  )
}

const artifacts: Phase<GcCandidate> = async (scan, after) => {
  const rows = scan.context.db.now(abandonedVersions(scan.space.key, Number(after ?? 0), SLICE))
  const found = rows.map((row) =>
    candidate(scan, {
      type: 'parse-artifact',
      target: {
        type: 'artifact-object',
        id: row.artifact_id,
        documentAssetId: row.document_id,
        parseArtifactId: row.artifact_id,
      },
      reason: 'the version was never published and nobody works on it',
      count: row.node_count + 1,
      bytes: row.bytes,
      occasion: '',
    }),
  )
  return sliceOf(rows, SLICE, found, (row) => row.key)
}

const strayNodes: Phase<GcCandidate> = async (scan, after) => {
  const rows = scan.context.db.now(
    sql.allAsStored<{ key: number; id: string; stray: number; bytes: number }>(
      `SELECT key, id, NOT EXISTS (SELECT 1 FROM versions WHERE versions.key = nodes.version_key) stray,
       octet_length(text) bytes
     FROM nodes INDEXED BY nodes_place WHERE space_key = ? AND key > ? ORDER BY key LIMIT ?`,
      [scan.space.key, Number(after ?? 0), SLICE],
    ),
  )
  const found = rows
    .filter((row) => row.stray === 1)
    .map((row) =>
      candidate(scan, {
        type: 'artifact-segment',
        target: { type: 'knowledge-node', id: row.id },
        reason: 'the passage belongs to no version of a document',
        bytes: row.bytes,
        occasion: '',
      }),
    )
  return sliceOf(rows, SLICE, found, (row) => row.key)
}

export interface OldVectorSpace {
  key: number
  id: string
  vectors: number
  dimension: number
}

/** Embedding models that no query uses any more. While a new one is trained the old ones are its business. */
export function* supersededVectorSpaces(spaceKey: number): Read<OldVectorSpace[]> {
  return yield* sql.allAsStored<OldVectorSpace>(
    `SELECT key, id, dimension, (SELECT count(*) FROM vectors WHERE vector_space = vector_spaces.key) vectors
     FROM vector_spaces WHERE space_key = ? AND state = 'superseded'
       AND NOT EXISTS (SELECT 1 FROM vector_spaces other WHERE other.space_key = vector_spaces.space_key AND other.state = 'building')
     ORDER BY key`,
    [spaceKey],
  )
}

const projections: Phase<GcCandidate> = async (scan) => {
  const rows = scan.context.db.now(supersededVectorSpaces(scan.space.key)).slice(0, SLICE)
  const findings = rows.map((row) =>
    candidate(scan, {
      type: 'index-projection',
      target: { type: 'index-projection', id: row.id },
      reason: 'a newer embedding model took the place of this one',
      count: Math.max(1, row.vectors),
      bytes: row.vectors * row.dimension * 2,
      occasion: '',
    }),
  )
  return { scanned: rows.length, findings }
}

/** Traces from before this time are kept by nothing. */
export function* traceCutoff(spaceKey: number, now: number): Read<number> {
  return now - (yield* retentionOf(spaceKey)).answerTraceRetentionDays * DAY_MS
}

const traces: Phase<GcCandidate> = async (scan, after) => {
  const { db } = scan.context
  const rows = db.now(
    sql.allAsStored<{ id: string; created_at: number; bytes: number }>(
      `SELECT id, created_at, octet_length(query) + octet_length(steps) bytes FROM traces
     WHERE space_key = ? AND created_at < ? AND id > ? ORDER BY id LIMIT ?`,
      [scan.space.key, db.now(traceCutoff(scan.space.key, scan.now)), String(after ?? ''), SLICE],
    ),
  )
  const found = rows.map((row) =>
    candidate(scan, {
      type: 'answer-trace',
      target: { type: 'knowledge-path', id: row.id, virtualPath: `/evidence/${row.id}` },
      reason: 'the trace is older than the retention policy keeps traces',
      bytes: row.bytes,
      occasion: '',
    }),
  )
  return sliceOf(rows, SLICE, found, (row) => row.id)
}

/** Everything that can be collected; with a prefix only objects whose keys begin with it. */
export function candidatePhases(prefix: string | undefined): Phase<GcCandidate>[] {
  if (prefix === undefined) return [orphans, leftovers, commits, artifacts, strayNodes, projections, traces]
  return [orphans, leftovers].map((phase) => async (scan, after) => {
    const slice = await phase(scan, after)
    return { ...slice, findings: slice.findings.filter(({ target }) => target.objectKey?.startsWith(prefix) === true) }
  })
}
