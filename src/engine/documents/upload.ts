import { KsError } from '../../contract/errors.js'
import type { AcceptedDocument } from '../../contract/gateway/documents.js'
import { newId } from '../../lib/ids.js'
import type { Caller } from '../base/caller.js'
import { provisionalType, storedName } from '../base/file-names.js'
import type { Upload, UploadFile, UploadOptions } from '../base/upload.js'
import type { EngineContext } from '../context.js'
import { keepObjects } from '../objects/receive.js'
import { removeUnreferenced } from '../objects/remove.js'
import { type DocumentRow, documentsNamed, findDocument, insertDocument, toAsset } from '../rows/documents.js'
import { beginJob, endedInVain, type JobRow, latestJob, toTicket } from '../rows/jobs.js'
import { findSource } from '../rows/sources.js'
import { freezeEmbedding } from '../rows/space-changes.js'
import { findSpace, type SpaceRow } from '../rows/spaces.js'
import { beginUploadCommit, documentOfUpload, failUpload, settleUpload } from '../rows/staged-commits.js'
import { assertRoomForPages } from '../spaces/parser-pages.js'
import { assertRawBytes, assertRoomForDocuments } from '../spaces/quota.js'
import { ObjectStore, type StagedObject } from '../storage/objects.js'
import type { Read, Write } from '../storage/program.js'
import { writeAnswer } from '../storage/write-answer.js'

interface Received {
  staged: StagedObject
  commitId: string
  filename: string
  mimeType: string
  objectKey: string
  metadata: Record<string, unknown>
}

/**
 * Receives files. Write order: bytes into temporary files → commit `received` → fsync → rename, directories synced →
 * one transaction that makes assets and jobs. Only the last one is the acknowledgement; a crash before it leaves
 * temporary files or unreferenced objects, never a row without bytes.
 */
export async function beginUpload(
  context: EngineContext,
  caller: Caller,
  spaceId: string,
  options: UploadOptions,
): Promise<Upload> {
  const { db, objects } = context
  const { limits } = context.options
  const space = await db.read(findSpace(caller.tenant, spaceId))
  const received: Received[] = []
  let bytes = 0
  let ended = false
  return {
    async add(file: UploadFile) {
      if (!options.many && received.length > 0)
        throw new KsError('invalid-request', 'exactly one file must be sent, received more')
      if (received.length >= limits.bulkFiles)
        throw new KsError('upload-too-large', `a bulk upload holds at most ${limits.bulkFiles} files`)
      await context.rightOfWay.giveWay()
      const filename = storedName(file.filename)
      const left = Math.min(limits.uploadBytes, limits.bulkBytes - bytes)
      const commitId = newId()
      const staged = await objects.stage(commitId, file.content, left, filename)
      if (ended) {
        await objects.discard(commitId)
        return
      }
      bytes += staged.size
      // several may have come in at the same time
      if (bytes > limits.bulkBytes) {
        await objects.discard(commitId)
        throw new KsError('upload-too-large', `an upload must be at most ${limits.bulkBytes} bytes long`)
      }
      received.push({
        staged,
        commitId,
        filename,
        mimeType: provisionalType(filename, file.mimeType),
        objectKey: ObjectStore.key(caller.tenant, staged.sha256),
        metadata: file.metadata ?? {},
      })
    },
    async commit({ sourceId }) {
      if (received.length === 0) throw new KsError('invalid-request', 'at least one file must be sent, received none')
      if (sourceId !== undefined) await db.read(findSource(caller, space, sourceId))
      ended = true
      try {
        return await commitUpload(context, caller, space, sourceId ?? null, received, options.answer)
      } catch (error) {
        await forget(context, space, received, error)
        throw error
      }
    },
    async abort() {
      ended = true
      await Promise.all(received.map(({ staged }) => objects.discard(staged.id)))
    },
  }
}

async function commitUpload(
  context: EngineContext,
  caller: Caller,
  space: SpaceRow,
  sourceId: string | null,
  received: Received[],
  answer: UploadOptions['answer'],
): Promise<AcceptedDocument[]> {
  const { db, options } = context
  if (db.damage !== undefined) throw db.damage
  // crawls and imports that began while there was room
  if (options.room?.isFull === true) throw new KsError('storage-full', 'the disk of the data directory is full')
  const { added, again } = await db.read(newOf(context, space, sourceId, received))
  if (added + again > 0) await assertRoomForPages(context, space, added + again)
  function* admitAll(held: () => Write<void>): Write<AcceptedDocument[]> {
    yield* held()
    const live = yield* findSpace(space.tenant, space.id)
    // it may have been deleted while the bytes came in
    if (sourceId !== null) yield* findSource(caller, live, sourceId)
    if (live.frozen_at === null) yield* freezeEmbedding(space.key, Date.now())
    const made: AcceptedDocument[] = []
    for (const item of received) made.push(yield* admit(caller, space, sourceId, item))
    // several uploads may have been let in at once
    if (added > 0) yield* assertRawBytes(context, space)
    return made
  }
  const accepted = await keepObjects(context, {
    tenant: space.tenant,
    incoming: received.map(({ staged, objectKey }) => ({ staged, key: objectKey })),
    begin: () => beginCommits(context, space, sourceId, received),
    commit(held) {
      const { answered: _, ...unasked } = caller
      // where more follows than the upload, the answer is not its own
      const asked = answer === undefined ? unasked : caller
      const look = () => admittedBefore(caller, space, received)
      return writeAnswer(db, asked, () => admitAll(held), answer, look)
    },
  })
  context.wake()
  return accepted
}

/**
 * How many documents will be made, and how many are compiled again since their last compilation ended in vain.
 * @throws KsError `quota-exceeded` when there is no room for the new ones
 */
function* newOf(
  context: EngineContext,
  space: SpaceRow,
  sourceId: string | null,
  received: readonly Received[],
): Read<{ added: number; again: number }> {
  let added = 0
  let again = 0
  let bytes = 0
  for (const item of received) {
    const same = yield* sameBytes(space, sourceId, item)
    if (same === undefined) {
      added += 1
      bytes += item.staged.size
    } else if (endedInVain(yield* latestJob(same.key))) again += 1
  }
  if (added > 0) yield* assertRoomForDocuments(context, space, bytes)
  return { added, again }
}

function* beginCommits(
  { instance }: EngineContext,
  space: SpaceRow,
  sourceId: string | null,
  received: readonly Received[],
): Write<void> {
  const now = Date.now()
  for (const { commitId, objectKey, staged } of received) {
    const file = { commitId, stagedId: staged.id, objectKey, sha256: staged.sha256, size: staged.size }
    yield* beginUploadCommit(space, sourceId, file, instance, now)
  }
}

/** Nobody was promised anything: no commit stays under way, and no bytes stay that nothing else names. */
async function forget(context: EngineContext, space: SpaceRow, received: Received[], error: unknown): Promise<void> {
  const { db, objects, log } = context
  const code = error instanceof KsError ? error.code : 'internal'
  try {
    await Promise.all(received.map(({ staged }) => objects.discard(staged.id)))
    await db.write(function* () {
      for (const { commitId } of received) yield* failUpload(commitId, code)
    })
    await removeUnreferenced(
      context,
      space.tenant,
      received.map(({ objectKey }) => objectKey),
    )
  } catch (cause) {
    // the next start and the garbage collection find what is left
    log.warn({ error: String(cause) }, 'a failed upload could not be cleaned up')
  }
}

/**
 * Makes the asset and its job, or finds the asset that holds the same bytes under the same name. One whose last job failed
 * or was canceled gets a new job.
 */
function* admit(caller: Caller, space: SpaceRow, sourceId: string | null, item: Received): Write<AcceptedDocument> {
  const same = yield* sameBytes(space, sourceId, item)
  const latest = same && (yield* latestJob(same.key))
  if (same !== undefined && latest !== undefined && !endedInVain(latest)) {
    yield* settleUpload(item.commitId, ['received', 'object-staged', 'canceled'], { documentId: same.id, jobId: null })
    return accepted(space, same, latest)
  }
  const row = same ?? (yield* makeDocument(space, sourceId, item))
  const job = yield* beginJob(space, row)
  // this transaction is the acknowledgement: the bytes are durable, verified by their hash, and have their row
  const path = ['received', 'object-staged', 'object-verified', 'metadata-prepared'] as const
  yield* settleUpload(item.commitId, path, { documentId: row.id, jobId: job.id })
  return accepted(space, same === undefined ? row : yield* findDocument(caller, space.key, row.id), job)
}

/** What an upload has made whose commit nobody confirmed. */
function* admittedBefore(
  caller: Caller,
  space: SpaceRow,
  received: readonly Received[],
): Read<AcceptedDocument[] | undefined> {
  const made: AcceptedDocument[] = []
  for (const { commitId } of received) {
    const id = yield* documentOfUpload(space, commitId)
    if (id === undefined) return undefined
    const row = yield* findDocument(caller, space.key, id)
    const job = yield* latestJob(row.key)
    if (job === undefined) return undefined
    made.push(accepted(space, row, job))
  }
  return made
}

function* makeDocument(space: SpaceRow, sourceId: string | null, item: Received): Write<DocumentRow> {
  const made = {
    tenant: space.tenant,
    id: newId(),
    space_key: space.key,
    source_id: sourceId,
    metadata: item.metadata,
    filename: item.filename,
    mime_type: item.mimeType,
    object_key: item.objectKey,
    sha256: item.staged.sha256,
    size_bytes: item.staged.size,
  }
  return yield* insertDocument(made, Date.now())
}

function accepted(space: SpaceRow, row: DocumentRow, job: JobRow): AcceptedDocument {
  return { asset: toAsset(row, space.id), compilationJob: toTicket(job), statusUrl: `/jobs/${job.id}` }
}

/** The document that holds the file's bytes under its name already. */
function* sameBytes(
  space: SpaceRow,
  sourceId: string | null,
  { filename, staged }: Received,
): Read<DocumentRow | undefined> {
  const [newest] = yield* documentsNamed(space.key, sourceId, filename)
  return newest?.sha256 === staged.sha256 ? newest : undefined
}
