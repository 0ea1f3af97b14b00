import { KsError } from '../../contract/errors.js'
import { newId } from '../../lib/ids.js'
import { provisionalType } from '../base/file-names.js'
import type { EngineContext } from '../context.js'
import type { ContainedFile } from '../parse/compiled.js'
import { DEFAULT_LIMITS } from '../parse/limits.js'
import { around, bequeath, containedIn, countWithin } from '../rows/contained-documents.js'
import { type DocumentRow, insertDocuments, namesakesOf } from '../rows/documents.js'
import { documentOf } from '../rows/job-documents.js'
import { beginJobs, endedInVain, isHeldQueued, type JobRow, latestJobs } from '../rows/jobs.js'
import { ObjectGone } from '../rows/objects.js'
import { publishNext } from '../rows/publications.js'
import type { SpaceRow } from '../rows/spaces.js'
import { beginJobCommits } from '../rows/staged-commits.js'
import { assertRoomForPages } from '../spaces/parser-pages.js'
import { assertRawBytes, assertRoomForDocuments } from '../spaces/quota.js'
import { ObjectStore } from '../storage/objects.js'
import type { Read, Write } from '../storage/program.js'
import { retireDocuments } from './delete.js'
import type { ReceivedContained } from './receive-contained.js'

/** number of documents in one transaction: it blocks the event loop for some milliseconds */
const AT_ONCE = 128

/** A document whose file was parsed, with the job that compiles it. */
interface Container {
  job: JobRow
  document: DocumentRow
}

/** Number of ancestors of each of some documents. */
export function* depthsOf(documents: readonly DocumentRow[]): Read<number[]> {
  const depths: number[] = []
  for (const document of documents) depths.push(document.parent_id === null ? 0 : (yield* around(document)).length)
  return depths
}

/**
 * Creates documents with jobs for the files contained in one, or finds existing documents with the same bytes. Children
 * of an older file with the container's name move here when this one is published. Documents of files that are no
 * longer inside are deleted. After a crash between two of its transactions, the next run of the job finds the documents
 * of the first.
 *
 * @returns the reason if there is no capacity for them
 */
export async function storeContained(
  context: EngineContext,
  space: SpaceRow,
  { job, document }: Container,
  files: readonly ContainedFile[],
  received: ReceivedContained,
): Promise<{ code: string; message: string } | undefined> {
  const { db } = context
  const lock = { lock: space.key }
  try {
    const plan = await db.read(planOf(document, files))
    const fresh = plan.filter(({ there }) => there === undefined)
    await assertRoom(context, space, document, fresh)
    for (let from = 0; from < files.length; from += AT_ONCE) {
      const some = files.slice(from, from + AT_ONCE)
      const made = await db.write(() => store(context, space, { job, document }, some, received), lock)
      if (!made) return undefined
    }
    await db.write(() => retireOthers(space, { job, document }, files), lock)
    context.wake()
    return undefined
  } catch (error) {
    if (error instanceof ObjectGone)
      throw new KsError('unavailable', 'the bytes of files within a file were removed while it was read', {
        cause: error,
      })
    if (error instanceof KsError && error.code === 'capacity-exceeded')
      return { code: 'limit-exceeded', message: error.message }
    if (error instanceof KsError && error.code === 'quota-exceeded') return { code: error.code, message: error.message }
    throw error
  }
}

/** A contained file, and its existing document. */
interface Planned {
  file: ContainedFile
  filename: string
  /** the document with its bytes and name, of this container or of an older one with the container's name */
  there: DocumentRow | undefined
}

function* planOf(container: DocumentRow, files: readonly ContainedFile[]): Read<Planned[]> {
  const [namesakes = []] = yield* namesakesOf([container])
  const older = namesakes.filter(({ key }) => key < container.key)
  const byName = new Map<string, DocumentRow>()
  // of two documents with one name, that of this container counts, and of those the newest
  for (const row of (yield* containedIn([...older.reverse(), container])).flat()) byName.set(row.filename, row)
  return files.map((file) => {
    const filename = `${container.filename}/${file.name}`
    const row = byName.get(filename)
    return { file, filename, there: row?.sha256 === file.sha256 ? row : undefined }
  })
}

/** @throws KsError `quota-exceeded`; `capacity-exceeded` when the outermost file contains too much */
async function assertRoom(
  context: EngineContext,
  space: SpaceRow,
  container: DocumentRow,
  fresh: readonly Planned[],
): Promise<void> {
  if (fresh.length === 0) return
  const bytes = fresh.reduce((sum, { file }) => sum + file.size, 0)
  await context.db.read(assertRoomForDocuments(context, space, bytes))
  await assertRoomForPages(context, space, fresh.length)
  const outermost = (await context.db.read(around(container))).at(-1)
  if (outermost === undefined) return
  const held = await context.db.read(countWithin(outermost))
  const { containedFiles, inflatedBytes } = DEFAULT_LIMITS
  if (held.files + fresh.length > containedFiles || held.bytes + bytes > inflatedBytes)
    throw new KsError(
      'capacity-exceeded',
      `${outermost.filename} exceeds the limit of ${containedFiles.toLocaleString('en-US')} files or ${inflatedBytes.toLocaleString('en-US')} bytes, nested files included`,
    )
}

/** @returns whether the job's claim is still valid */
function* store(
  context: EngineContext,
  space: SpaceRow,
  { job, document }: Container,
  files: readonly ContainedFile[],
  received: ReceivedContained,
): Write<boolean> {
  if (!(yield* isWanted({ job, document }))) return false
  const plan = yield* planOf(document, files)
  const others = plan.flatMap(({ there }) => (there === undefined || there.parent_id === document.id ? [] : [there]))
  yield* bequeath(others, document.id)
  const added = plan.filter(({ there }) => there === undefined).map((one) => newDocument(space, document, one))
  yield* received.hold(added.map(({ object_key }) => object_key))
  const made = yield* insertDocuments(added, Date.now())
  const known = plan.flatMap(({ there }) => there ?? [])
  const latest = yield* latestJobs(known.map(({ key }) => key))
  const again = known.filter((_, place) => endedInVain(latest[place]))
  const compiled = [...made, ...again]
  const jobs = yield* beginJobs(space, compiled)
  const commits = compiled.map((row, place) => ({ document: row, jobId: jobs[place]?.id ?? '' }))
  yield* beginJobCommits(space, 'document-upload', commits, Date.now())
  if (made.length > 0) yield* assertRawBytes(context, space)
  return true
}

/** Retires documents that an earlier compilation of the same file found, and this one did not. */
function* retireOthers(space: SpaceRow, { job, document }: Container, files: readonly ContainedFile[]): Write<void> {
  if (!(yield* isWanted({ job, document }))) return
  const names = new Set(files.map(({ name }) => `${document.filename}/${name}`))
  const [own = []] = yield* containedIn([document])
  const gone = own.filter(({ filename }) => !names.has(filename))
  if (gone.length === 0) return
  const { revision } = yield* publishNext(space.key, `no more in ${document.id}`)
  yield* retireDocuments(space.key, gone, revision)
}

function* isWanted({ job }: Container): Read<boolean> {
  return (yield* isHeldQueued(job)) && (yield* documentOf(job))?.deleted_at === null
}

function newDocument(space: SpaceRow, container: DocumentRow, { file, filename }: Planned) {
  return {
    tenant: space.tenant,
    id: newId(),
    space_key: space.key,
    source_id: container.source_id,
    metadata: {},
    filename,
    mime_type: provisionalType(filename, file.mediaType),
    object_key: ObjectStore.key(space.tenant, file.sha256),
    sha256: file.sha256,
    size_bytes: file.size,
    parent_id: container.id,
  }
}
