import { KsError } from '../../contract/errors.js'
import type { AcceptedDocument } from '../../contract/gateway/documents.js'
import { defined } from '../../lib/defined.js'
import { newId } from '../../lib/ids.js'
import type { Caller } from '../base/caller.js'
import { provisionalType, storedName } from '../base/file-names.js'
import type { Upload, UploadFile, UploadOptions } from '../base/upload.js'
import type { EngineContext } from '../context.js'
import { keepObjects } from '../objects/receive.js'
import { removeUnreferenced } from '../objects/remove.js'
import {
  type DocumentRow,
  findDocument,
  insertDocuments,
  type NewDocument,
  newestNamed,
  toAsset,
} from '../rows/documents.js'
import { beginJobs, endedInVain, type JobRow, latestJobs, toTicket } from '../rows/jobs.js'
import { findSource } from '../rows/sources.js'
import { freezeEmbedding } from '../rows/space-changes.js'
import { findSpace, type SpaceRow } from '../rows/spaces.js'
import {
  beginUploadCommits,
  documentOfUpload,
  failUploads,
  type SettledUpload,
  settleUploads,
} from '../rows/staged-commits.js'
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
 * one transaction that inserts assets and jobs. Only the last step acknowledges the upload; a crash before it leaves
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
      // several files may have been received at the same time
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
  // for crawls and imports that began before the disk was full
  if (options.room?.isFull === true) throw new KsError('storage-full', 'the disk of the data directory is full')
  const { added, again } = await db.read(newOf(context, space, sourceId, received))
  if (added + again > 0) await assertRoomForPages(context, space, added + again)
  function* admitAll(held: () => Write<void>): Write<AcceptedDocument[]> {
    yield* held()
    const live = yield* findSpace(space.tenant, space.id)
    // it may have been deleted while the bytes were received
    if (sourceId !== null) yield* findSource(caller, live, sourceId)
    if (live.frozen_at === null) yield* freezeEmbedding(space.key, Date.now())
    const made = new Map<Received, AcceptedDocument>()
    for (const turn of turnsOf(received))
      for (const [item, accepted] of yield* admit(caller, space, sourceId, turn)) made.set(item, accepted)
    // several uploads may have been admitted at once
    if (added > 0) yield* assertRawBytes(context, space)
    return received.flatMap((item) => made.get(item) ?? [])
  }
  const accepted = await keepObjects(context, {
    tenant: space.tenant,
    incoming: received.map(({ staged, objectKey }) => ({ staged, key: objectKey })),
    begin: () => beginCommits(context, space, sourceId, received),
    commit(held) {
      const { answered: _, ...unasked } = caller
      // if the request continues after the upload, the upload is not its answer
      const asked = answer === undefined ? unasked : caller
      const look = () => admittedBefore(caller, space, received)
      return writeAnswer(db, asked, () => admitAll(held), { ...defined({ answer }), look, lock: space.key })
    },
  })
  context.wake()
  return accepted
}

/**
 * Number of documents that will be inserted, and of those that are compiled again since their last compilation failed.
 * @throws KsError `quota-exceeded` when the new documents exceed the quota
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
  for (const [place, held] of (yield* heldAs(space, sourceId, received)).entries()) {
    if (held === undefined) {
      added += 1
      bytes += received[place]?.staged.size ?? 0
    } else if (endedInVain(held.latest)) again += 1
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
  const files = received.map(({ commitId, objectKey, staged }) => ({
    commitId,
    stagedId: staged.id,
    objectKey,
    sha256: staged.sha256,
    size: staged.size,
  }))
  yield* beginUploadCommits(space, sourceId, files, instance, Date.now())
}

/** Cleans up an upload that was not acknowledged: ends its commits, and removes bytes without other references. */
async function forget(context: EngineContext, space: SpaceRow, received: Received[], error: unknown): Promise<void> {
  const { db, objects, log } = context
  const code = error instanceof KsError ? error.code : 'internal'
  try {
    await Promise.all(received.map(({ staged }) => objects.discard(staged.id)))
    await db.write(() =>
      failUploads(
        received.map(({ commitId }) => commitId),
        code,
      ),
    )
    await removeUnreferenced(
      context,
      space.tenant,
      received.map(({ objectKey }) => objectKey),
    )
  } catch (cause) {
    // the next start and the garbage collection find the leftovers
    log.warn({ error: String(cause) }, 'a failed upload could not be cleaned up')
  }
}

/** Splits files into rounds without duplicate names: the later one of two finds the document of the earlier one. */
function turnsOf(received: readonly Received[]): Received[][] {
  const turns: Received[][] = []
  const times = new Map<string, number>()
  for (const item of received) {
    const turn = times.get(item.filename) ?? 0
    times.set(item.filename, turn + 1)
    turns[turn] = [...(turns[turn] ?? []), item]
  }
  return turns
}

/**
 * Inserts assets and their jobs, or finds assets with the same bytes and names. One whose last job failed or was
 * canceled gets a new job.
 */
function* admit(
  caller: Caller,
  space: SpaceRow,
  sourceId: string | null,
  items: readonly Received[],
): Write<[Received, AcceptedDocument][]> {
  const held = yield* heldAs(space, sourceId, items)
  const there: [Received, AcceptedDocument][] = []
  const compiled: { item: Received; row: DocumentRow | undefined }[] = []
  for (const [place, item] of items.entries()) {
    const { row, latest } = held[place] ?? {}
    if (row !== undefined && latest !== undefined && !endedInVain(latest))
      there.push([item, accepted(space, row, latest)])
    else compiled.push({ item, row })
  }
  yield* settleUploads(
    ['received', 'object-staged', 'canceled'],
    there.map(([{ commitId }, { asset }]) => ({ commitId, documentId: asset.id, jobId: null })),
  )
  return [...there, ...(yield* compileAll(caller, space, sourceId, compiled))]
}

/** Inserts the jobs of files, and the missing documents. */
function* compileAll(
  caller: Caller,
  space: SpaceRow,
  sourceId: string | null,
  files: readonly { item: Received; row: DocumentRow | undefined }[],
): Write<[Received, AcceptedDocument][]> {
  const added = files.flatMap(({ item, row }) => (row === undefined ? [item] : []))
  const made = yield* insertDocuments(
    added.map((item) => newDocument(space, sourceId, item)),
    Date.now(),
  )
  const rows = new Map(added.map((item, place) => [item, made[place]]))
  const documents = files.flatMap(({ item, row }) => {
    const document = row ?? rows.get(item)
    return document === undefined ? [] : [{ item, document, isNew: row === undefined }]
  })
  const jobs = yield* beginJobs(
    space,
    documents.map(({ document }) => document),
  )
  // this transaction is the acknowledgement: the bytes are durable, verified by their hash, and have their row
  const path = ['received', 'object-staged', 'object-verified', 'metadata-prepared'] as const
  const settled: SettledUpload[] = []
  const all: [Received, AcceptedDocument][] = []
  for (const [place, { item, document, isNew }] of documents.entries()) {
    const job = jobs[place]
    if (job === undefined) continue
    settled.push({ commitId: item.commitId, documentId: document.id, jobId: job.id })
    const row = isNew ? document : yield* findDocument(caller, space.key, document.id)
    all.push([item, accepted(space, row, job)])
  }
  yield* settleUploads(path, settled)
  return all
}

/** The result of an upload whose commit was not confirmed. */
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
    const [job] = yield* latestJobs([row.key])
    if (job === undefined) return undefined
    made.push(accepted(space, row, job))
  }
  return made
}

function newDocument(space: SpaceRow, sourceId: string | null, item: Received): NewDocument {
  return {
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
}

function accepted(space: SpaceRow, row: DocumentRow, job: JobRow): AcceptedDocument {
  return { asset: toAsset(row, space.id), compilationJob: toTicket(job), statusUrl: `/jobs/${job.id}` }
}

interface Held {
  row: DocumentRow
  latest: JobRow | undefined
}

/** For each file the existing document with its bytes and name, and its latest job. */
function* heldAs(space: SpaceRow, sourceId: string | null, files: readonly Received[]): Read<(Held | undefined)[]> {
  const newest = yield* newestNamed(
    space.key,
    sourceId,
    files.map(({ filename }) => filename),
  )
  const same = newest.map((row, place) => (row?.sha256 === files[place]?.staged.sha256 ? row : undefined))
  const keys = [...new Set(same.flatMap((row) => row?.key ?? []))]
  const latest = yield* latestJobs(keys)
  const jobs = new Map(keys.map((key, place) => [key, latest[place]]))
  return same.map((row) => row && { row, latest: jobs.get(row.key) })
}
