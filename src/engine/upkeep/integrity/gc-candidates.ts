import { createHash } from 'node:crypto'
import type { GcCandidate, IntegrityTarget } from '../../../contract/gateway/integrity.js'
import { omitUndefined } from '../../../lib/omit-undefined.js'
import { getRetentionRules } from '../../library/index.js'
import type { StoredFile } from '../../store/object-list.js'
import type { Read } from '../../store/program.js'
import { classifyObjects } from '../../store/rows/objects.js'
import { getCutoff } from '../retention/slice.js'
import { listCollectableCommits } from '../rows/integrity/commits.js'
import { listNodePresence } from '../rows/integrity/nodes.js'
import { isReportedBy } from '../rows/integrity/objects.js'
import { listOldTraces } from '../rows/integrity/traces.js'
import { listSupersededVectorSpaces } from '../rows/integrity/vectors.js'
import { listAbandonedVersions } from '../rows/integrity/versions.js'
import type { IntegrityScan } from './findings.js'
import { makeScanSlice, type ScanPhase } from './phase.js'
import { filterLeftovers, isCollectable } from './raw-objects.js'

const SLICE = 200

interface GcCandidateInput {
  type: GcCandidate['candidateType']
  target: IntegrityTarget
  reason: string
  count?: number
  bytes: number
  /** distinguishes repeated events of one target: an object may become an orphan twice */
  occasion: string | number
}

function toGcCandidate(
  { space }: IntegrityScan,
  { type, target, reason, count, bytes, occasion }: GcCandidateInput,
): GcCandidate {
  const identity = JSON.stringify([space.id, type, targetKey(target), occasion])
  return {
    candidateType: type,
    count: count ?? 1,
    estimatedBytes: Math.max(0, Math.round(bytes)),
    idempotencyKey: `gc-${createHash('sha256').update(identity).digest('hex').slice(0, 32)}`,
    reason,
    target,
  }
}

/** A key that is unique among targets. */
export function targetKey(target: IntegrityTarget): string {
  return JSON.stringify([
    target.type,
    ...[target.id, target.objectKey, target.documentAssetId, target.parseArtifactId, target.virtualPath].map(
      (part) => part ?? null,
    ),
  ])
}

const orphansPhase: ScanPhase<GcCandidate> = async (scan, after) => {
  const { context, space } = scan
  const files = await context.objects.list(space.tenant, String(after ?? ''), SLICE)
  const keys = files.flatMap(({ key, isObject }) => (isObject ? [key] : []))
  const names = await context.db.read(classifyObjects(space.tenant, keys, scan.now))
  const nameless = files.filter(({ key }) => names.get(key) === 'noted' || names.get(key) === 'unknown')
  const stored = await context.objects.describeAll(nameless)
  const candidates = (await context.db.read(filterCollectable(scan, stored))).map((file) =>
    toGcCandidate(scan, {
      type: 'staged-object',
      target: { type: 'raw-object', objectKey: file.key },
      reason: 'no document and no running upload refers to these bytes',
      bytes: file.size,
      occasion: file.changedAt,
    }),
  )
  return makeScanSlice(files, SLICE, candidates, (file) => file.key)
}

/** The orphaned files that the report of this space includes. */
function* filterCollectable({ context, space, now }: IntegrityScan, files: readonly StoredFile[]): Read<StoredFile[]> {
  const selected: StoredFile[] = []
  for (const file of files)
    if (file.isObject && (yield* isCollectable(context, file, now)) && (yield* isReportedBy(space, file.key)))
      selected.push(file)
  return selected
}

const leftoversPhase: ScanPhase<GcCandidate> = async (scan, after) => {
  const files = (await scan.context.objects.listStaged()).filter(({ id }) => id > String(after ?? '')).slice(0, SLICE)
  const left = await scan.context.db.read(filterLeftovers(scan, files))
  const candidates = left.map((file) =>
    toGcCandidate(scan, {
      type: 'staged-object',
      target: { type: 'raw-object', id: file.id, objectKey: `tmp/${file.id}` },
      reason: 'an upload that ended left this temporary file',
      bytes: file.size,
      occasion: file.changedAt,
    }),
  )
  return makeScanSlice(files, SLICE, candidates, (file) => file.id)
}

const commitsPhase: ScanPhase<GcCandidate> = async (scan, after) => {
  const rows = await scan.context.db.read(listCollectableCommits(scan.space.key, String(after ?? ''), scan.now, SLICE))
  const candidates = rows.map((row) =>
    toGcCandidate(scan, {
      type: 'failed-commit',
      target: {
        type: 'staged-commit',
        id: row.id,
        ...omitUndefined({
          objectKey: row.published_object_key ?? undefined,
          documentAssetId: row.document_id ?? undefined,
        }),
      },
      reason: `the upload is ${row.status} and has expired`,
      bytes: 0,
      occasion: '',
    }),
  )
  return makeScanSlice(rows, SLICE, candidates, (row) => row.id)
}

const artifactsPhase: ScanPhase<GcCandidate> = async (scan, after) => {
  const rows = await scan.context.db.read(listAbandonedVersions(scan.space.key, Number(after ?? 0), SLICE))
  const candidates = rows.map((row) =>
    toGcCandidate(scan, {
      type: 'parse-artifact',
      target: {
        type: 'artifact-object',
        id: row.artifact_id,
        documentAssetId: row.document_id,
        parseArtifactId: row.artifact_id,
      },
      reason: 'the version was never published and no job works on it',
      count: row.node_count + 1,
      bytes: row.bytes,
      occasion: '',
    }),
  )
  return makeScanSlice(rows, SLICE, candidates, (row) => row.key)
}

const strayNodesPhase: ScanPhase<GcCandidate> = async (scan, after) => {
  const rows = await scan.context.db.read(listNodePresence(scan.space.key, Number(after ?? 0), SLICE))
  const candidates = rows
    .filter((row) => row.stray === 1)
    .map((row) =>
      toGcCandidate(scan, {
        type: 'artifact-segment',
        target: { type: 'knowledge-node', id: row.id },
        reason: 'the passage belongs to no version of a document',
        bytes: row.bytes,
        occasion: '',
      }),
    )
  return makeScanSlice(rows, SLICE, candidates, (row) => row.key)
}

const projectionsPhase: ScanPhase<GcCandidate> = async (scan) => {
  const rows = (await scan.context.db.read(listSupersededVectorSpaces(scan.space.key))).slice(0, SLICE)
  const findings = rows.map((row) =>
    toGcCandidate(scan, {
      type: 'index-projection',
      target: { type: 'index-projection', id: row.id },
      reason: 'a newer embedding model has replaced this one',
      count: Math.max(1, row.vectors),
      bytes: row.vectors * row.dimension * 2,
      occasion: '',
    }),
  )
  return { scanned: rows.length, findings }
}

/** Traces before this time have no reason to be kept. */
export function* getTraceCutoff(spaceKey: number, now: number): Read<number> {
  return getCutoff(now, (yield* getRetentionRules(spaceKey)).answerTraceRetentionDays)
}

function* listExpiredTraces({ space, now }: IntegrityScan, after: string): Read<{ id: string; bytes: number }[]> {
  return yield* listOldTraces(space.key, yield* getTraceCutoff(space.key, now), after, SLICE)
}

const tracesPhase: ScanPhase<GcCandidate> = async (scan, after) => {
  const rows = await scan.context.db.read(listExpiredTraces(scan, String(after ?? '')))
  const candidates = rows.map((row) =>
    toGcCandidate(scan, {
      type: 'answer-trace',
      target: { type: 'knowledge-path', id: row.id, virtualPath: `/evidence/${row.id}` },
      reason: 'the trace is older than the retention period for traces',
      bytes: row.bytes,
      occasion: '',
    }),
  )
  return makeScanSlice(rows, SLICE, candidates, (row) => row.id)
}

/** Phases for everything that can be collected; with a prefix, only for objects whose keys begin with it. */
export function candidatePhases(prefix: string | undefined): ScanPhase<GcCandidate>[] {
  if (prefix === undefined)
    return [orphansPhase, leftoversPhase, commitsPhase, artifactsPhase, strayNodesPhase, projectionsPhase, tracesPhase]
  return [orphansPhase, leftoversPhase].map((phase) => async (scan, after) => {
    const slice = await phase(scan, after)
    return { ...slice, findings: slice.findings.filter(({ target }) => target.objectKey?.startsWith(prefix) === true) }
  })
}
