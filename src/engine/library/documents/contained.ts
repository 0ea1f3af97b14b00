import { KsError } from '../../../contract/errors.js'
import { newId } from '../../../lib/ids.js'
import { getProvisionalMediaType } from '../../base/file-names.js'
import { DEFAULT_LIMITS } from '../../readers/index.js'
import type { ContainedFile } from '../../store/compiled.js'
import { ObjectStore } from '../../store/objects.js'
import type { Read, Write } from '../../store/program.js'
import { countDescendants, listAncestors, listContained, setNextParent } from '../../store/rows/contained-documents.js'
import {
  type DocumentRow,
  insertDocuments,
  listNamesakes,
  type NextFile,
  withNewestFile,
} from '../../store/rows/documents.js'
import { findJobDocument } from '../../store/rows/job-documents.js'
import {
  hasEndedUnpublished,
  insertJobs,
  isClaimedAndQueued,
  type JobRow,
  listLatestJobs,
} from '../../store/rows/jobs.js'
import { queueEdits } from '../../store/rows/next-files.js'
import { ObjectRemovedError } from '../../store/rows/objects.js'
import { publishNextRevision } from '../../store/rows/publications.js'
import type { SpaceRow } from '../../store/rows/spaces.js'
import { insertJobCommits } from '../../store/rows/staged-commits.js'
import type { EngineContext } from '../context.js'
import { assertPageBudget } from '../spaces/parser-pages.js'
import { assertDocumentQuota, assertRawBytesQuota } from '../spaces/quota.js'
import { retireDocuments } from './delete.js'
import type { ContainedFileReceiver } from './receive-contained.js'

/** number of documents in one transaction: it blocks the event loop for some milliseconds */
const BATCH_SIZE = 128

/** A document whose file was parsed, with the job that compiles it, and some or all of the files it contains. */
interface ParsedContainer {
  job: JobRow
  document: DocumentRow
  files: readonly ContainedFile[]
}

/** Number of ancestors of each of some documents. */
export function* getNestingDepths(documents: readonly DocumentRow[]): Read<number[]> {
  const depths: number[] = []
  for (const document of documents)
    depths.push(document.parent_id === null ? 0 : (yield* listAncestors(document)).length)
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
  container: ParsedContainer,
  received: ContainedFileReceiver,
): Promise<{ code: string; message: string } | undefined> {
  const { db } = context
  const { document, files } = container
  const lock = { lock: space.key }
  try {
    const plan = await db.read(planContained(document, files))
    const added = plan.filter(({ there }) => there === undefined)
    await assertContainedCapacity(context, space, document, added)
    for (let start = 0; start < files.length; start += BATCH_SIZE) {
      const batch = { ...container, files: files.slice(start, start + BATCH_SIZE) }
      const isStored = await db.write(() => storeBatch(context, space, batch, received), lock)
      if (!isStored) return undefined
    }
    await db.write(() => retireMissing(space, container), lock)
    context.wake()
    return undefined
  } catch (error) {
    if (error instanceof ObjectRemovedError)
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
interface PlannedContainedFile {
  file: ContainedFile
  filename: string
  /** the document with its bytes and name, of this container or of an older one with the container's name */
  there: DocumentRow | undefined
  /** the document of this container with its name and other bytes */
  edited: DocumentRow | undefined
}

function* planContained(container: DocumentRow, files: readonly ContainedFile[]): Read<PlannedContainedFile[]> {
  const [namesakes = []] = yield* listNamesakes([container])
  const older = namesakes.filter(({ key }) => key < container.key)
  const byName = new Map<string, DocumentRow>()
  // of two documents with one name, that of this container counts, and of those the newest
  for (const row of (yield* listContained([...older.reverse(), container])).flat()) byName.set(row.filename, row)
  return files.map((file) => {
    const filename = `${container.filename}/${file.name}`
    const row = byName.get(filename)
    if (row === undefined) return { file, filename, there: undefined, edited: undefined }
    const isSame = withNewestFile(row).sha256 === file.sha256
    const isEdit = !isSame && row.parent_id === container.id
    return { file, filename, there: isSame ? row : undefined, edited: isEdit ? row : undefined }
  })
}

/** @throws KsError `quota-exceeded`; `capacity-exceeded` when the outermost file contains too much */
async function assertContainedCapacity(
  context: EngineContext,
  space: SpaceRow,
  container: DocumentRow,
  fresh: readonly PlannedContainedFile[],
): Promise<void> {
  if (fresh.length === 0) return
  const bytes = fresh.reduce((sum, { file }) => sum + file.size, 0)
  await context.db.read(assertDocumentQuota(context, space, bytes))
  await assertPageBudget(context, space, fresh.length)
  const outermost = (await context.db.read(listAncestors(container))).at(-1)
  if (outermost === undefined) return
  const current = await context.db.read(countDescendants(outermost))
  const { containedFiles, inflatedBytes } = DEFAULT_LIMITS
  if (current.files + fresh.length > containedFiles || current.bytes + bytes > inflatedBytes)
    throw new KsError(
      'capacity-exceeded',
      `${outermost.filename} exceeds the limit of ${containedFiles.toLocaleString('en-US')} files or ${inflatedBytes.toLocaleString('en-US')} bytes, nested files included`,
    )
}

/** @returns whether the job's claim is still valid */
function* storeBatch(
  context: EngineContext,
  space: SpaceRow,
  { job, document, files }: ParsedContainer,
  received: ContainedFileReceiver,
): Write<boolean> {
  if (!(yield* isStillWanted(job))) return false
  const plan = yield* planContained(document, files)
  const inherited = plan.flatMap(({ there }) => (there === undefined || there.parent_id === document.id ? [] : [there]))
  yield* setNextParent(inherited, document.id)
  const added = plan
    .filter(({ there, edited }) => there === undefined && edited === undefined)
    .map((planned) => toContainedDocument(space, document, planned))
  const edits = plan.flatMap((planned) =>
    planned.edited === undefined ? [] : [{ document: planned.edited, file: toNextFile(space, planned) }],
  )
  yield* received.markReferenced([
    ...added.map(({ object_key }) => object_key),
    ...edits.map(({ file }) => file.objectKey),
  ])
  yield* queueEdits(space, edits)
  const inserted = yield* insertDocuments(added)
  const existing = plan.flatMap(({ there }) => there ?? [])
  const latest = yield* listLatestJobs(existing.map(({ key }) => key))
  const retried = existing.filter((_, index) => hasEndedUnpublished(latest[index]))
  const compiled = [...inserted, ...retried]
  const jobs = yield* insertJobs(space, compiled)
  const commits = compiled.map((row, index) => ({ document: row, jobId: jobs[index]?.id ?? '' }))
  yield* insertJobCommits(space, 'document-upload', commits)
  if (inserted.length > 0) yield* assertRawBytesQuota(context, space)
  return true
}

/** Retires documents that an earlier compilation of the same file found, and this one did not. */
function* retireMissing(space: SpaceRow, { job, document, files }: ParsedContainer): Write<void> {
  if (!(yield* isStillWanted(job))) return
  const names = new Set(files.map(({ name }) => `${document.filename}/${name}`))
  const [contained = []] = yield* listContained([document])
  const missing = contained.filter(({ filename }) => !names.has(filename))
  if (missing.length === 0) return
  const { revision } = yield* publishNextRevision(space.key, `no more in ${document.id}`)
  yield* retireDocuments(space.key, missing, revision)
}

function* isStillWanted(job: JobRow): Read<boolean> {
  return (yield* isClaimedAndQueued(job)) && (yield* findJobDocument(job))?.deleted_at === null
}

function toNextFile(space: SpaceRow, { file, filename }: PlannedContainedFile): NextFile {
  return {
    objectKey: ObjectStore.key(space.tenant, file.sha256),
    sha256: file.sha256,
    sizeBytes: file.size,
    mimeType: getProvisionalMediaType(filename, file.mediaType),
    metadata: {},
  }
}

function toContainedDocument(space: SpaceRow, container: DocumentRow, { file, filename }: PlannedContainedFile) {
  return {
    tenant: space.tenant,
    id: newId(),
    space_key: space.key,
    source_id: container.source_id,
    metadata: {},
    filename,
    mime_type: getProvisionalMediaType(filename, file.mediaType),
    object_key: ObjectStore.key(space.tenant, file.sha256),
    sha256: file.sha256,
    size_bytes: file.size,
    parent_id: container.id,
  }
}
