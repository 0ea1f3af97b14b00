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

/** Bytes that one slice hashes, and documents and files that it looks at. */
const SLICE_BYTES = 256 * 1024 * 1024
const SLICE_ROWS = 200
const SLICE_FILES = 200
/** What is younger may belong to work that goes on. */
export const GRACE_MS = 60 * 60 * 1000

/** Every document's bytes are read again and hashed. */
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

/** Reads the bytes of an object again and compares them with what was received. */
export async function checkBytes(objects: ObjectStore, held: Held): Promise<Finding | undefined> {
  const read = await objects.measure(held.object_key).catch(unlessAway)
  return await compareBytes(held, read)
}

async function compareBytes(held: Held, read: Measured): Promise<Finding | undefined> {
  const { target } = held
  const name = JSON.stringify(held.name)
  const remedy = { by: 'person', advice: `upload ${name} again: the same bytes take their place` } as const
  const isWhole = read !== undefined && 'sha256' in read && read.size === held.size_bytes && read.sha256 === held.sha256
  // it may have been deleted while it was read
  if (isWhole || !(await held.stillThere())) return undefined
  if (read === undefined)
    return finding('missing-raw-object', 'raw-object-missing', `the bytes of ${name} are not there`, target, remedy)
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
  const message = `the bytes of ${name} are not those that were received: their hash differs`
  return finding('checksum-mismatch', 'raw-object-hash', message, target, remedy)
}

/** Files of the tenant that no row names, each shown by one space. */
const strangers: Phase = async (scan, after) => {
  const { context, space } = scan
  const files = await context.objects.list(space.tenant, String(after ?? ''), SLICE_FILES)
  const keys = files.flatMap(({ key, isObject }) => (isObject ? [key] : []))
  const names = await context.db.read(namesOf(space.tenant, keys, scan.now))
  // of almost all there is nothing to be said: only the others are looked at one by one
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

/** What is to be said of a file, unless a row names it or it is too young to tell. */
function* strayAt({ context, space, now }: Scan, file: StoredFile): Read<Finding | undefined> {
  const target = { type: 'raw-object', objectKey: file.key } as const
  if (!file.isObject) {
    const message = `${JSON.stringify(file.key)} is not a file of this store; it is left alone`
    return finding('orphaned-staged-object', 'unknown-file', message, target, { by: 'nobody' })
  }
  if (yield* isReferenced(file.key, now)) return yield* unnoted(space.tenant, file)
  const name = `object ${file.key.slice(-8)} of ${file.size} bytes`
  const doubt = context.identity.doubt()
  if (doubt !== undefined && (isOld(file, now) || file.modifiedAt < context.identity.openedAt)) {
    const message = `${name} belongs to no document that the database knows; it stays, because ${doubt}`
    return finding('orphaned-staged-object', 'unknown-object', message, target, { by: 'nobody' }, 'warning')
  }
  if (!isOld(file, now)) return undefined
  const remedy = { by: 'removing-object', objectKey: file.key } as const
  return finding('orphaned-staged-object', 'orphaned-object', `${name} belongs to no document`, target, remedy)
}

/** An object that is needed, and that no upload or removal would agree by. */
function* unnoted(tenant: string, { key }: StoredFile): Read<Finding | undefined> {
  if ((yield* objectRow({ tenant, key })) !== undefined) return undefined
  const target = { type: 'raw-object', objectKey: key } as const
  const message = `object ${key.slice(-8)} is needed and has no row of its own`
  const remedy = { by: 'noting-object', objectKey: key } as const
  return finding('orphaned-staged-object', 'object-without-row', message, target, remedy, 'warning')
}

/** Rows of objects that have no bytes and that nothing names. */
const emptyRows: Phase = async (scan, after) => {
  const { context, space, now } = scan
  const rows = await context.db.read(objectRows(space.tenant, String(after ?? ''), SLICE_FILES))
  const findings: Finding[] = []
  const old = rows.flatMap((row) => {
    const key = ObjectStore.key(row.tenant, row.sha256)
    // damage of the row itself is told with that of all rows
    return ObjectStore.isKey(key) && isOld({ modifiedAt: row.touched_at }, now) ? [key] : []
  })
  const names = await context.db.read(namesOf(space.tenant, old, now))
  for (const key of old) {
    if (names.get(key) !== 'noted' || (await context.objects.describe(key)) !== undefined) continue
    if (!(await context.db.read(isEmptyRow(scan, key)))) continue
    const message = `object ${key.slice(-8)} has a row and no bytes, and nothing names it`
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

/** Whether an object may be collected: an orphan, and the database knows all objects. */
export function* isCollectable(
  context: EngineContext,
  file: { key: string; modifiedAt: number },
  now: number,
): Read<boolean> {
  return (yield* isOrphan(file, now)) && context.identity.doubt() === undefined
}

/** Whether an object is older than the grace and named by no document, live or being purged, no open commit, no chat. */
function* isOrphan(file: { key: string; modifiedAt: number }, now: number): Read<boolean> {
  return isOld(file, now) && !(yield* isReferenced(file.key, now))
}

/** Temporary files of this space's uploads that ended. Those of uploads without a row are removed by the next start. */
const leftovers: Phase = async (scan, after) => {
  const files = (await scan.context.objects.listStaged()).filter(({ id }) => id > String(after ?? ''))
  const some = files.slice(0, SLICE_FILES)
  const left = await scan.context.db.read(leftoversOf(scan, some))
  const findings = left.map((file) =>
    finding(
      'orphaned-staged-object',
      'orphaned-temporary-file',
      `an upload that ended left ${file.size} bytes behind`,
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

/** Of temporary files, those of this space's uploads that ended. */
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

/** Commits that failed or were canceled so long ago that nothing of them has to be kept. */
const expiredCommits: Phase = async (scan, after) => {
  const rows = await scan.context.db.read(
    collectableCommits(scan.space.key, String(after ?? ''), scan.now, SLICE_FILES),
  )
  const findings = rows.map((row) =>
    finding(
      'failed-commit-expired',
      'failed-commit-expired',
      `staged commit ${row.id} is ${row.status} and past its time`,
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
