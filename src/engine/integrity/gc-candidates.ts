import { createHash } from 'node:crypto'
import type { GcCandidate, IntegrityTarget } from '../../contract/gateway/integrity.js'
import { defined } from '../../lib/defined.js'
import { collectableCommits } from '../rows/integrity/commits.js'
import { placedNodes } from '../rows/integrity/nodes.js'
import { isShownBy } from '../rows/integrity/objects.js'
import { oldTraces } from '../rows/integrity/traces.js'
import { supersededVectorSpaces } from '../rows/integrity/vectors.js'
import { abandonedVersions } from '../rows/integrity/versions.js'
import { namesOf } from '../rows/objects.js'
import { retentionOf } from '../spaces/retention-policy.js'
import type { StoredFile } from '../storage/object-list.js'
import type { Read } from '../storage/program.js'
import type { Scan } from './findings.js'
import { type Phase, sliceOf } from './phase.js'
import { isCollectable, leftoversOf } from './raw-objects.js'

const SLICE = 200
const DAY_MS = 24 * 60 * 60 * 1000

interface Collectable {
  type: GcCandidate['candidateType']
  target: IntegrityTarget
  reason: string
  count?: number
  bytes: number
  /** distinguishes repeated events of one target: an object may become an orphan twice */
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

/** A key that is unique among targets. */
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
  const keys = files.flatMap(({ key, isObject }) => (isObject ? [key] : []))
  const names = await context.db.read(namesOf(space.tenant, keys, scan.now))
  const nameless = files.filter(({ key }) => names.get(key) === 'noted' || names.get(key) === 'unknown')
  const stored = await context.objects.described(nameless)
  const found = (await context.db.read(collectable(scan, stored))).map((file) =>
    candidate(scan, {
      type: 'staged-object',
      target: { type: 'raw-object', objectKey: file.key },
      reason: 'no document and no running upload refers to these bytes',
      bytes: file.size,
      occasion: file.changedAt,
    }),
  )
  return sliceOf(files, SLICE, found, (file) => file.key)
}

/** The orphaned files that the report of this space includes. */
function* collectable({ context, space, now }: Scan, files: readonly StoredFile[]): Read<StoredFile[]> {
  const found: StoredFile[] = []
  for (const file of files)
    if (file.isObject && (yield* isCollectable(context, file, now)) && (yield* isShownBy(space, file.key)))
      found.push(file)
  return found
}

const leftovers: Phase<GcCandidate> = async (scan, after) => {
  const files = (await scan.context.objects.listStaged()).filter(({ id }) => id > String(after ?? '')).slice(0, SLICE)
  const left = await scan.context.db.read(leftoversOf(scan, files))
  const found = left.map((file) =>
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
  const rows = await scan.context.db.read(collectableCommits(scan.space.key, String(after ?? ''), scan.now, SLICE))
  const found = rows.map((row) =>
    candidate(scan, {
      type: 'failed-commit',
      target: {
        type: 'staged-commit',
        id: row.id,
        ...defined({ objectKey: row.published_object_key ?? undefined, documentAssetId: row.document_id ?? undefined }),
      },
      reason: `the commit is ${row.status} and has expired`,
      bytes: 0,
      occasion: '',
    }),
  )
  return sliceOf(rows, SLICE, found, (row) => row.id)
}

const artifacts: Phase<GcCandidate> = async (scan, after) => {
  const rows = await scan.context.db.read(abandonedVersions(scan.space.key, Number(after ?? 0), SLICE))
  const found = rows.map((row) =>
    candidate(scan, {
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
  return sliceOf(rows, SLICE, found, (row) => row.key)
}

const strayNodes: Phase<GcCandidate> = async (scan, after) => {
  const rows = await scan.context.db.read(placedNodes(scan.space.key, Number(after ?? 0), SLICE))
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

const projections: Phase<GcCandidate> = async (scan) => {
  const rows = (await scan.context.db.read(supersededVectorSpaces(scan.space.key))).slice(0, SLICE)
  const findings = rows.map((row) =>
    candidate(scan, {
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
export function* traceCutoff(spaceKey: number, now: number): Read<number> {
  return now - (yield* retentionOf(spaceKey)).answerTraceRetentionDays * DAY_MS
}

function* tracesToCollect({ space, now }: Scan, after: string): Read<{ id: string; bytes: number }[]> {
  return yield* oldTraces(space.key, yield* traceCutoff(space.key, now), after, SLICE)
}

const traces: Phase<GcCandidate> = async (scan, after) => {
  const rows = await scan.context.db.read(tracesToCollect(scan, String(after ?? '')))
  const found = rows.map((row) =>
    candidate(scan, {
      type: 'answer-trace',
      target: { type: 'knowledge-path', id: row.id, virtualPath: `/evidence/${row.id}` },
      reason: 'the trace is older than the retention period for traces',
      bytes: row.bytes,
      occasion: '',
    }),
  )
  return sliceOf(rows, SLICE, found, (row) => row.id)
}

/** Phases for everything that can be collected; with a prefix, only for objects whose keys begin with it. */
export function candidatePhases(prefix: string | undefined): Phase<GcCandidate>[] {
  if (prefix === undefined) return [orphans, leftovers, commits, artifacts, strayNodes, projections, traces]
  return [orphans, leftovers].map((phase) => async (scan, after) => {
    const slice = await phase(scan, after)
    return { ...slice, findings: slice.findings.filter(({ target }) => target.objectKey?.startsWith(prefix) === true) }
  })
}
