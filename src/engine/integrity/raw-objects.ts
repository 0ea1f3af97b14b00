import type { IntegrityTarget } from '../../contract/gateway/integrity.js'
import { defined } from '../../lib/defined.js'
import type { EngineContext } from '../context.js'
import { collectableCommits, isEndedUpload } from '../rows/integrity/commits.js'
import { documentBytes, isDocumentThere, isShownBy, type ReceivedBytes } from '../rows/integrity/objects.js'
import { isReferenced, namesOf, objectRow, objectRows } from '../rows/objects.js'
import type { StoredFile } from '../storage/object-list.js'
import type { Measured } from '../storage/object-thread.js'
import { ObjectStore, unlessAway } from '../storage/objects.js'
import type { Read } from '../storage/program.js'
import { type Finding, finding, type Scan } from './findings.js'
import { type Phase, sliceOf } from './phase.js'
import { workspaceObjectPhases } from './workspace-objects.js'

/** Bytes that one slice hashes, and documents and files that it checks. */
const SLICE_BYTES = 256 * 1024 * 1024
const SLICE_ROWS = 200
const SLICE_FILES = 200
/** Anything younger may belong to running work. */
export const GRACE_MS = 60 * 60 * 1000

/** Reads and hashes the bytes of every document. */
const documents: Phase = async (scan, after) => {
  const rows = await scan.context.db.read(documentBytes(scan.space.key, String(after ?? ''), SLICE_ROWS))
  let bytes = 0
  const within = rows.findIndex((row) => {
    bytes += row.size_bytes
    return bytes > SLICE_BYTES
  })
  const taken = within <= 0 ? rows.slice(0, within === 0 ? 1 : SLICE_ROWS) : rows.slice(0, within)
  const measured = await scan.context.objects.measureAll(taken.map((row) => row.object_key))
  const findings: Finding[] = []
  for (const [place, row] of taken.entries()) {
    const found = await checkRaw(scan, row, measured[place])
    if (found !== undefined) findings.push(found)
  }
  const last = taken.at(-1)
  const more = taken.length < rows.length || rows.length === SLICE_ROWS
  return { scanned: taken.length, findings, ...(more && last !== undefined ? { next: last.id } : {}) }
}

function checkRaw({ context, space }: Scan, row: ReceivedBytes, measured: Measured): Promise<Finding | undefined> {
  const target = { type: 'raw-object', id: row.id, objectKey: row.object_key, documentAssetId: row.id } as const
  const stillThere = () => context.db.read(isDocumentThere(space.key, row.id))
  return compareBytes({ ...row, target, stillThere }, measured)
}

interface Held extends Omit<ReceivedBytes, 'id'> {
  target: IntegrityTarget
  stillThere(): Promise<boolean>
}

/** Reads the bytes of an object and compares them with what was received. */
export async function checkBytes(objects: ObjectStore, held: Held): Promise<Finding | undefined> {
  const read = await objects.measure(held.object_key).catch(unlessAway)
  return await compareBytes(held, read)
}

async function compareBytes(held: Held, read: Measured): Promise<Finding | undefined> {
  const { target } = held
  const name = JSON.stringify(held.name)
  const remedy = { by: 'person', advice: `upload ${name} again: the same bytes replace them` } as const
  const isWhole = read !== undefined && 'sha256' in read && read.size === held.size_bytes && read.sha256 === held.sha256
  // it may have been deleted while it was read
  if (isWhole || !(await held.stillThere())) return undefined
  if (read === undefined)
    return finding('missing-raw-object', 'raw-object-missing', `the bytes of ${name} are missing`, target, remedy)
  if ('error' in read)
    return finding(
      'checksum-mismatch',
      'raw-object-unreadable',
      `the bytes of ${name} cannot be read: ${read.error}`,
      target,
      remedy,
    )
  if (read.size !== held.size_bytes) {
    const message = `${name} has ${read.size} bytes on disk, ${held.size_bytes} were received`
    return finding('size-mismatch', 'raw-object-size', message, target, remedy)
  }
  const message = `the bytes of ${name} differ from what was received: their hash does not match`
  return finding('checksum-mismatch', 'raw-object-hash', message, target, remedy)
}

/** Files of the tenant that no row refers to, each reported by one space. */
const strangers: Phase = async (scan, after) => {
  const { context, space } = scan
  const files = await context.objects.list(space.tenant, String(after ?? ''), SLICE_FILES)
  const keys = files.flatMap(({ key, isObject }) => (isObject ? [key] : []))
  const names = await context.db.read(namesOf(space.tenant, keys, scan.now))
  // Almost all need no report: only the others are checked one by one.
  const doubtful = files.filter(({ key }) => names.get(key) !== 'named-and-noted')
  const findings = await context.db.read(straysAmong(scan, await context.objects.described(doubtful)))
  return sliceOf(files, SLICE_FILES, findings, (row) => row.key)
}

function* straysAmong(scan: Scan, files: readonly StoredFile[]): Read<Finding[]> {
  const findings: Finding[] = []
  for (const file of files) {
    const found = yield* strayAt(scan, file)
    if (found !== undefined && (yield* isShownBy(scan.space, file.key))) findings.push(found)
  }
  return findings
}

/** Finds the problem of a file; none where a row refers to it, or it is too young to judge. */
function* strayAt({ context, space, now }: Scan, file: StoredFile): Read<Finding | undefined> {
  const target = { type: 'raw-object', objectKey: file.key } as const
  if (!file.isObject) {
    const message = `${JSON.stringify(file.key)} is not a file of this store; it is kept`
    return finding('orphaned-staged-object', 'unknown-file', message, target, { by: 'nobody' })
  }
  if (yield* isReferenced(file.key, now)) return yield* unnoted(space.tenant, file)
  const name = `object ${file.key.slice(-8)} of ${file.size} bytes`
  const doubt = context.identity.doubt()
  if (doubt !== undefined && (isOld(file, now) || file.modifiedAt < context.identity.openedAt)) {
    const message = `${name} belongs to no document in the database; it is kept because ${doubt}`
    return finding('orphaned-staged-object', 'unknown-object', message, target, { by: 'nobody' }, 'warning')
  }
  if (!isOld(file, now)) return undefined
  const remedy = { by: 'removing-object', objectKey: file.key } as const
  return finding('orphaned-staged-object', 'orphaned-object', `${name} belongs to no document`, target, remedy)
}

/** A referenced object without a row, which uploads and removals need to coordinate. */
function* unnoted(tenant: string, { key }: StoredFile): Read<Finding | undefined> {
  if ((yield* objectRow({ tenant, key })) !== undefined) return undefined
  const target = { type: 'raw-object', objectKey: key } as const
  const message = `object ${key.slice(-8)} is referenced, but has no row`
  const remedy = { by: 'noting-object', objectKey: key } as const
  return finding('orphaned-staged-object', 'object-without-row', message, target, remedy, 'warning')
}

/** Rows of objects without bytes and without references. */
const emptyRows: Phase = async (scan, after) => {
  const { context, space, now } = scan
  const rows = await context.db.read(objectRows(space.tenant, String(after ?? ''), SLICE_FILES))
  const findings: Finding[] = []
  const old = rows.flatMap((row) => {
    const key = ObjectStore.key(row.tenant, row.sha256)
    // damage of the row itself is reported by the check of all rows
    return ObjectStore.isKey(key) && isOld({ modifiedAt: row.touched_at }, now) ? [key] : []
  })
  const names = await context.db.read(namesOf(space.tenant, old, now))
  for (const key of old) {
    if (names.get(key) !== 'noted' || (await context.objects.describe(key)) !== undefined) continue
    if (!(await context.db.read(isEmptyRow(scan, key)))) continue
    const message = `object ${key.slice(-8)} has a row, but no bytes and no references`
    const target = { type: 'raw-object', objectKey: key } as const
    const remedy = { by: 'removing-object', objectKey: key } as const
    findings.push(finding('orphaned-staged-object', 'object-without-bytes', message, target, remedy))
  }
  return sliceOf(rows, SLICE_FILES, findings, (row) => row.sha256)
}

function* isEmptyRow({ space, now }: Scan, key: string): Read<boolean> {
  const row = yield* objectRow({ tenant: space.tenant, key })
  return row?.state === 'live' && !(yield* isReferenced(key, now)) && (yield* isShownBy(space, key))
}

function isOld(file: { modifiedAt: number }, now: number): boolean {
  return now - file.modifiedAt >= GRACE_MS
}

/** Whether an object may be collected: an orphan, while the database knows all objects. */
export function* isCollectable(
  context: EngineContext,
  file: { key: string; modifiedAt: number },
  now: number,
): Read<boolean> {
  return (yield* isOrphan(file, now)) && context.identity.doubt() === undefined
}

/**
 * Whether an object is older than the grace period and no document (live or being purged), open commit or chat refers
 * to it.
 */
function* isOrphan(file: { key: string; modifiedAt: number }, now: number): Read<boolean> {
  return isOld(file, now) && !(yield* isReferenced(file.key, now))
}

/** Temporary files of this space's ended uploads. Those of uploads without a row are removed by the next start. */
const leftovers: Phase = async (scan, after) => {
  const files = (await scan.context.objects.listStaged()).filter(({ id }) => id > String(after ?? ''))
  const some = files.slice(0, SLICE_FILES)
  const left = await scan.context.db.read(leftoversOf(scan, some))
  const findings = left.map((file) =>
    finding(
      'orphaned-staged-object',
      'orphaned-temporary-file',
      `an ended upload left ${file.size} bytes`,
      { type: 'staged-commit', id: file.id, objectKey: `tmp/${file.id}` },
      { by: 'removing-staged', id: file.id },
    ),
  )
  const last = some.at(-1)
  return {
    scanned: some.length,
    findings,
    ...(some.length < files.length && last !== undefined ? { next: last.id } : {}),
  }
}

/** Filters the temporary files that ended uploads of this space left. */
export function* leftoversOf<T extends TemporaryFile>(scan: Scan, files: readonly T[]): Read<T[]> {
  const left: T[] = []
  for (const file of files) if (yield* isLeftover(scan, file)) left.push(file)
  return left
}

export function* isLeftover({ space, now }: Scan, file: TemporaryFile): Read<boolean> {
  return isOld(file, now) && (yield* isEndedUpload(space.key, file.id))
}

interface TemporaryFile {
  id: string
  modifiedAt: number
}

/** Commits that failed or were canceled and are past their retention. */
const expiredCommits: Phase = async (scan, after) => {
  const rows = await scan.context.db.read(
    collectableCommits(scan.space.key, String(after ?? ''), scan.now, SLICE_FILES),
  )
  const findings = rows.map((row) =>
    finding(
      'failed-commit-expired',
      'failed-commit-expired',
      `staged commit ${row.id} is ${row.status} and has expired`,
      { type: 'staged-commit', id: row.id, ...defined({ documentAssetId: row.document_id ?? undefined }) },
      { by: 'collecting-commit', commitId: row.id },
    ),
  )
  return sliceOf(rows, SLICE_FILES, findings, (row) => row.id)
}

export const rawObjectPhases: Phase[] = [
  documents,
  ...workspaceObjectPhases,
  strangers,
  emptyRows,
  leftovers,
  expiredCommits,
]
