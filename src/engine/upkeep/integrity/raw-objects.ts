import type { IntegrityTarget } from '../../../contract/gateway/integrity.js'
import { omitUndefined } from '../../../lib/omit-undefined.js'
import { formatCount, pluralize } from '../../../lib/text/pluralize.js'
import type { EngineContext } from '../../library/index.js'
import type { StoredFile } from '../../store/object-list.js'
import type { ObjectMeasureResult } from '../../store/object-thread.js'
import { ObjectStore, toReadError } from '../../store/objects.js'
import type { Read } from '../../store/program.js'
import { classifyObjects, findObjectRow, isReferenced, listObjectRows } from '../../store/rows/objects.js'
import { isEndedUpload, listCollectableCommits } from '../rows/integrity/commits.js'
import { hasDocument, isReportedBy, listDocumentBytes, type UploadedBytes } from '../rows/integrity/objects.js'
import { createFinding, type IntegrityFinding, type IntegrityScan } from './findings.js'
import { makeScanSlice, type ScanPhase } from './phase.js'
import { workspaceObjectPhases } from './workspace-objects.js'

/** Bytes that one slice hashes, and documents and files that it checks. */
const MAX_SLICE_BYTES = 256 * 1024 * 1024
const SLICE_ROWS = 200
const SLICE_FILES = 200
/** Anything younger may belong to running work. */
export const OBJECT_GRACE_MS = 60 * 60 * 1000

/** Reads and hashes the bytes of every document. */
const documentsPhase: ScanPhase = async (scan, after) => {
  const rows = await scan.context.db.read(listDocumentBytes(scan.space.key, String(after ?? ''), SLICE_ROWS))
  let bytes = 0
  const firstExcess = rows.findIndex((row) => {
    bytes += row.size_bytes
    return bytes > MAX_SLICE_BYTES
  })
  const slice = firstExcess <= 0 ? rows.slice(0, firstExcess === 0 ? 1 : SLICE_ROWS) : rows.slice(0, firstExcess)
  const measured = await scan.context.objects.measureAll(slice.map((row) => row.object_key))
  const findings: IntegrityFinding[] = []
  for (const [index, row] of slice.entries()) {
    const issue = await checkRawBytes(scan, row, measured[index])
    if (issue !== undefined) findings.push(issue)
  }
  const last = slice.at(-1)
  const hasMore = slice.length < rows.length || rows.length === SLICE_ROWS
  return { scanned: slice.length, findings, ...(hasMore && last !== undefined ? { next: last.id } : {}) }
}

function checkRawBytes(
  { context, space }: IntegrityScan,
  row: UploadedBytes,
  measured: ObjectMeasureResult,
): Promise<IntegrityFinding | undefined> {
  const target = { type: 'raw-object', id: row.id, objectKey: row.object_key, documentAssetId: row.id } as const
  const stillExists = () => context.db.read(hasDocument(space.key, row.id))
  return compareBytes({ ...row, target, stillExists }, measured)
}

interface CheckedObject extends Omit<UploadedBytes, 'id'> {
  target: IntegrityTarget
  stillExists(): Promise<boolean>
}

/** Reads the bytes of an object and compares them with what was received. */
export async function checkBytes(objects: ObjectStore, object: CheckedObject): Promise<IntegrityFinding | undefined> {
  const measured = await objects.measure(object.object_key).catch(toReadError)
  return await compareBytes(object, measured)
}

async function compareBytes(
  object: CheckedObject,
  measured: ObjectMeasureResult,
): Promise<IntegrityFinding | undefined> {
  const { target } = object
  const name = JSON.stringify(object.name)
  const remedy = { by: 'person', advice: `upload ${name} again: the same bytes replace them` } as const
  const isIntact =
    measured !== undefined &&
    'sha256' in measured &&
    measured.size === object.size_bytes &&
    measured.sha256 === object.sha256
  // it may have been deleted while it was read
  if (isIntact || !(await object.stillExists())) return undefined
  if (measured === undefined)
    return createFinding('missing-raw-object', 'raw-object-missing', `the bytes of ${name} are missing`, {
      target,
      remedy,
    })
  if ('error' in measured)
    return createFinding(
      'checksum-mismatch',
      'raw-object-unreadable',
      `the bytes of ${name} cannot be read: ${measured.error}`,
      { target, remedy },
    )
  if (measured.size !== object.size_bytes) {
    const message = `${name} has ${pluralize(measured.size, 'byte')} on disk, ${formatCount(object.size_bytes)} were received`
    return createFinding('size-mismatch', 'raw-object-size', message, { target, remedy })
  }
  const message = `the bytes of ${name} differ from what was received: their hash does not match`
  return createFinding('checksum-mismatch', 'raw-object-hash', message, { target, remedy })
}

/** Files of the tenant that no row refers to, each reported by one space. */
const unreferencedFilesPhase: ScanPhase = async (scan, after) => {
  const { context, space } = scan
  const files = await context.objects.list(space.tenant, String(after ?? ''), SLICE_FILES)
  const keys = files.flatMap(({ key, isObject }) => (isObject ? [key] : []))
  const names = await context.db.read(classifyObjects(space.tenant, keys, scan.now))
  // Almost all need no report: only the others are checked one by one.
  const unclear = files.filter(({ key }) => names.get(key) !== 'named-and-noted')
  const findings = await context.db.read(findStrays(scan, await context.objects.describeAll(unclear)))
  return makeScanSlice(files, SLICE_FILES, findings, (row) => row.key)
}

function* findStrays(scan: IntegrityScan, files: readonly StoredFile[]): Read<IntegrityFinding[]> {
  const findings: IntegrityFinding[] = []
  for (const file of files) {
    const found = yield* findStrayIssue(scan, file)
    if (found !== undefined && (yield* isReportedBy(scan.space, file.key))) findings.push(found)
  }
  return findings
}

/** Finds the problem of a file; none where a row refers to it, or it is too young to judge. */
function* findStrayIssue({ context, space, now }: IntegrityScan, file: StoredFile): Read<IntegrityFinding | undefined> {
  const target = { type: 'raw-object', objectKey: file.key } as const
  if (!file.isObject) {
    const message = `${JSON.stringify(file.key)} is not a file of this store; it is kept`
    return createFinding('orphaned-staged-object', 'unknown-file', message, { target, remedy: { by: 'nobody' } })
  }
  if (yield* isReferenced(file.key, now)) return yield* findMissingRow(space.tenant, file)
  const name = `object ${file.key.slice(-8)} of ${pluralize(file.size, 'byte')}`
  const keepReason = context.identity.keepUnknownReason()
  if (keepReason !== undefined && (isOld(file, now) || file.modifiedAt < context.identity.openedAt)) {
    const message = `${name} belongs to no document in the database; it is kept because ${keepReason}`
    return createFinding('orphaned-staged-object', 'unknown-object', message, {
      target,
      remedy: { by: 'nobody' },
      severity: 'warning',
    })
  }
  if (!isOld(file, now)) return undefined
  const remedy = { by: 'removing-object', objectKey: file.key } as const
  return createFinding('orphaned-staged-object', 'orphaned-object', `${name} belongs to no document`, {
    target,
    remedy,
  })
}

/** A referenced object without a row, which uploads and removals need to coordinate. */
function* findMissingRow(tenant: string, { key }: StoredFile): Read<IntegrityFinding | undefined> {
  if ((yield* findObjectRow({ tenant, key })) !== undefined) return undefined
  const target = { type: 'raw-object', objectKey: key } as const
  const message = `object ${key.slice(-8)} is referenced, but has no row`
  const remedy = { by: 'noting-object', objectKey: key } as const
  return createFinding('orphaned-staged-object', 'object-without-row', message, { target, remedy, severity: 'warning' })
}

/** Rows of objects without bytes and without references. */
const rowsWithoutBytesPhase: ScanPhase = async (scan, after) => {
  const { context, space, now } = scan
  const rows = await context.db.read(listObjectRows(space.tenant, String(after ?? ''), SLICE_FILES))
  const findings: IntegrityFinding[] = []
  const old = rows.flatMap((row) => {
    const key = ObjectStore.key(row.tenant, row.sha256)
    // damage of the row itself is reported by the check of all rows
    return ObjectStore.isKey(key) && isOld({ modifiedAt: row.touched_at }, now) ? [key] : []
  })
  const names = await context.db.read(classifyObjects(space.tenant, old, now))
  for (const key of old) {
    if (names.get(key) !== 'noted' || (await context.objects.describe(key)) !== undefined) continue
    if (!(await context.db.read(isEmptyRow(scan, key)))) continue
    const message = `object ${key.slice(-8)} has a row, but no bytes and no references`
    const target = { type: 'raw-object', objectKey: key } as const
    const remedy = { by: 'removing-object', objectKey: key } as const
    findings.push(createFinding('orphaned-staged-object', 'object-without-bytes', message, { target, remedy }))
  }
  return makeScanSlice(rows, SLICE_FILES, findings, (row) => row.sha256)
}

function* isEmptyRow({ space, now }: IntegrityScan, key: string): Read<boolean> {
  const row = yield* findObjectRow({ tenant: space.tenant, key })
  return row?.state === 'live' && !(yield* isReferenced(key, now)) && (yield* isReportedBy(space, key))
}

function isOld(file: { modifiedAt: number }, now: number): boolean {
  return now - file.modifiedAt >= OBJECT_GRACE_MS
}

/** Whether an object may be collected: an orphan, while the database knows all objects. */
export function* isCollectable(
  context: EngineContext,
  file: { key: string; modifiedAt: number },
  now: number,
): Read<boolean> {
  return (yield* isOrphan(file, now)) && context.identity.keepUnknownReason() === undefined
}

/**
 * Whether an object is older than the grace period and no document (live or being purged), open commit or chat refers
 * to it.
 */
function* isOrphan(file: { key: string; modifiedAt: number }, now: number): Read<boolean> {
  return isOld(file, now) && !(yield* isReferenced(file.key, now))
}

/** Temporary files of this space's ended uploads. Those of uploads without a row are removed by the next start. */
const leftoversPhase: ScanPhase = async (scan, after) => {
  const files = (await scan.context.objects.listStaged()).filter(({ id }) => id > String(after ?? ''))
  const slice = files.slice(0, SLICE_FILES)
  const leftoverFiles = await scan.context.db.read(filterLeftovers(scan, slice))
  const findings = leftoverFiles.map((file) =>
    createFinding(
      'orphaned-staged-object',
      'orphaned-temporary-file',
      `an ended upload left ${pluralize(file.size, 'byte')}`,
      {
        target: { type: 'staged-commit', id: file.id, objectKey: `tmp/${file.id}` },
        remedy: { by: 'removing-staged', id: file.id },
      },
    ),
  )
  const last = slice.at(-1)
  return {
    scanned: slice.length,
    findings,
    ...(slice.length < files.length && last !== undefined ? { next: last.id } : {}),
  }
}

/** Filters the temporary files that ended uploads of this space left. */
export function* filterLeftovers<T extends TemporaryFile>(scan: IntegrityScan, files: readonly T[]): Read<T[]> {
  const leftovers: T[] = []
  for (const file of files) if (yield* isLeftover(scan, file)) leftovers.push(file)
  return leftovers
}

export function* isLeftover({ space, now }: IntegrityScan, file: TemporaryFile): Read<boolean> {
  return isOld(file, now) && (yield* isEndedUpload(space.key, file.id))
}

interface TemporaryFile {
  id: string
  modifiedAt: number
}

/** Commits that failed or were canceled and are past their retention. */
const expiredCommitsPhase: ScanPhase = async (scan, after) => {
  const rows = await scan.context.db.read(
    listCollectableCommits(scan.space.key, String(after ?? ''), scan.now, SLICE_FILES),
  )
  const findings = rows.map((row) =>
    createFinding(
      'failed-commit-expired',
      'failed-commit-expired',
      `upload ${row.id} is ${row.status} and has expired`,
      {
        target: {
          type: 'staged-commit',
          id: row.id,
          ...omitUndefined({ documentAssetId: row.document_id ?? undefined }),
        },
        remedy: { by: 'collecting-commit', commitId: row.id },
      },
    ),
  )
  return makeScanSlice(rows, SLICE_FILES, findings, (row) => row.id)
}

export const rawObjectPhases: ScanPhase[] = [
  documentsPhase,
  ...workspaceObjectPhases,
  unreferencedFilesPhase,
  rowsWithoutBytesPhase,
  leftoversPhase,
  expiredCommitsPhase,
]
