import { KsError } from '../../../contract/errors.js'
import type { AcceptedDocument } from '../../../contract/gateway/documents.js'
import { newId } from '../../../lib/ids.js'
import { omitUndefined } from '../../../lib/omit-undefined.js'
import type { Caller } from '../../base/caller.js'
import { getProvisionalMediaType, toStoredName } from '../../base/file-names.js'
import { asTenant } from '../../base/tenant-scope.js'
import type { Upload, UploadFile, UploadOptions } from '../../base/upload.js'
import { ObjectStore, type StagedObject } from '../../store/objects.js'
import type { Read, Write } from '../../store/program.js'
import {
  type DocumentRow,
  findDocument,
  insertDocuments,
  type NewDocument,
  toAsset,
} from '../../store/rows/documents.js'
import { hasEndedUnpublished, insertJobs, type JobRow, listLatestJobs, toTicket } from '../../store/rows/jobs.js'
import { findSource } from '../../store/rows/sources.js'
import { freezeEmbeddingModel } from '../../store/rows/space-changes.js'
import { findSpace, type SpaceRow } from '../../store/rows/spaces.js'
import {
  completeUploads,
  failUploads,
  findUploadedDocument,
  insertUploadCommits,
  type UploadResult,
} from '../../store/rows/staged-commits.js'
import { writeReply } from '../../store/write-reply.js'
import type { EngineContext } from '../context.js'
import { storeObjects } from '../objects/receive.js'
import { removeUnreferenced } from '../objects/remove.js'
import { assertPageBudget } from '../spaces/parser-pages.js'
import { assertDocumentQuota, assertRawBytesQuota } from '../spaces/quota.js'
import { findUploadMatches } from './documents.js'

interface ReceivedFile {
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
  const received: ReceivedFile[] = []
  let bytes = 0
  let isEnded = false
  return {
    async add(file: UploadFile) {
      if (!options.many && received.length > 0)
        throw new KsError('invalid-request', 'exactly one file must be sent, received more')
      if (received.length >= limits.bulkFiles)
        throw new KsError('upload-too-large', `a bulk upload holds at most ${limits.bulkFiles} files`)
      await context.foregroundPriority.yieldToQueries()
      const filename = toStoredName(file.filename)
      const maxBytes = Math.min(limits.uploadBytes, limits.bulkBytes - bytes)
      const commitId = newId()
      const staged = await objects.stage(commitId, file.content, maxBytes, filename)
      if (isEnded) return await objects.discard(commitId)
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
        mimeType: getProvisionalMediaType(filename, file.mimeType),
        objectKey: ObjectStore.key(caller.tenant, staged.sha256),
        metadata: file.metadata ?? {},
      })
    },
    commit: ({ sourceId }) =>
      asTenant(caller.tenant, async () => {
        if (received.length === 0) throw new KsError('invalid-request', 'at least one file must be sent, received none')
        if (sourceId !== undefined) await db.read(findSource(caller, space, sourceId))
        isEnded = true
        try {
          const parts = { sourceId: sourceId ?? null, received, answer: options.answer }
          return await commitUpload(context, caller, space, parts)
        } catch (error) {
          await cleanUp(context, space, received, error)
          throw error
        }
      }),
    async abort() {
      isEnded = true
      await Promise.all(received.map(({ staged }) => objects.discard(staged.id)))
    },
  }
}

interface ReceivedUpload {
  sourceId: string | null
  received: ReceivedFile[]
  answer: UploadOptions['answer']
}

async function commitUpload(
  context: EngineContext,
  caller: Caller,
  space: SpaceRow,
  { sourceId, received, answer }: ReceivedUpload,
): Promise<AcceptedDocument[]> {
  const { db, options } = context
  if (db.damage !== undefined) throw db.damage
  // for crawls and imports that began before the disk was full
  if (options.diskReserve?.isFull === true) throw new KsError('storage-full', 'the disk of the data directory is full')
  const { added, again } = await db.read(countNewDocuments(context, space, sourceId, received))
  if (added + again > 0) await assertPageBudget(context, space, added + again)
  function* admitAll(markReferenced: () => Write<void>): Write<AcceptedDocument[]> {
    yield* markReferenced()
    const live = yield* findSpace(space.tenant, space.id)
    // it may have been deleted while the bytes were received
    if (sourceId !== null) yield* findSource(caller, live, sourceId)
    if (live.frozen_at === null) yield* freezeEmbeddingModel(space.key)
    const acceptedByFile = new Map<ReceivedFile, AcceptedDocument>()
    for (const round of splitIntoRounds(received))
      for (const [item, accepted] of yield* admit(caller, space, sourceId, round)) acceptedByFile.set(item, accepted)
    // several uploads may have been admitted at once
    if (added > 0) yield* assertRawBytesQuota(context, space)
    return received.flatMap((item) => acceptedByFile.get(item) ?? [])
  }
  const accepted = await storeObjects(context, {
    tenant: space.tenant,
    incoming: received.map(({ staged, objectKey }) => ({ staged, key: objectKey })),
    begin: () => insertCommits(context, space, sourceId, received),
    commit(markReferenced) {
      const { recordAnswer: _, ...callerWithoutAnswer } = caller
      // if the request continues after the upload, the upload is not its answer
      const effectiveCaller = answer === undefined ? callerWithoutAnswer : caller
      return writeReply(db, effectiveCaller, () => admitAll(markReferenced), {
        ...omitUndefined({ toReply: answer }),
        findResult: () => findAdmittedUpload(caller, space, received),
        lock: space.key,
      })
    },
  })
  context.wake()
  return accepted
}

/** Counts documents to insert, and those to compile again after a failure. @throws KsError `quota-exceeded` */
function* countNewDocuments(
  context: EngineContext,
  space: SpaceRow,
  sourceId: string | null,
  received: readonly ReceivedFile[],
): Read<{ added: number; again: number }> {
  let added = 0
  let again = 0
  let bytes = 0
  for (const [index, { same, latest }] of (yield* matchReceived(space, sourceId, received)).entries()) {
    if (same === undefined) {
      added += 1
      bytes += received[index]?.staged.size ?? 0
    } else if (hasEndedUnpublished(latest)) again += 1
  }
  if (added > 0) yield* assertDocumentQuota(context, space, bytes)
  return { added, again }
}

function* insertCommits(
  { instance }: EngineContext,
  space: SpaceRow,
  sourceId: string | null,
  received: readonly ReceivedFile[],
): Write<void> {
  const files = received.map(({ commitId, objectKey, staged }) => ({
    commitId,
    stagedId: staged.id,
    objectKey,
    sha256: staged.sha256,
    size: staged.size,
  }))
  yield* insertUploadCommits(space, { sourceId, files }, instance)
}

/** Cleans up an upload that was not acknowledged: ends its commits, and removes bytes without other references. */
async function cleanUp(context: EngineContext, space: SpaceRow, files: ReceivedFile[], error: unknown): Promise<void> {
  const { db, objects, log } = context
  const code = error instanceof KsError ? error.code : 'internal'
  try {
    await Promise.all(files.map(({ staged }) => objects.discard(staged.id)))
    await db.write(() =>
      failUploads(
        files.map(({ commitId }) => commitId),
        code,
      ),
    )
    await removeUnreferenced(
      context,
      space.tenant,
      files.map(({ objectKey }) => objectKey),
    )
  } catch (cause) {
    // the next start and the garbage collection find the leftovers
    log.warn({ error: String(cause) }, 'a failed upload could not be cleaned up')
  }
}

/** Splits files into rounds without duplicate names: the later one of two finds the document of the earlier one. */
function splitIntoRounds(received: readonly ReceivedFile[]): ReceivedFile[][] {
  const rounds: ReceivedFile[][] = []
  const occurrences = new Map<string, number>()
  for (const item of received) {
    const round = occurrences.get(item.filename) ?? 0
    occurrences.set(item.filename, round + 1)
    rounds[round] = [...(rounds[round] ?? []), item]
  }
  return rounds
}

/** Inserts assets and jobs, or finds assets with the same bytes and names; one with a failed job gets a new job. */
function* admit(
  caller: Caller,
  space: SpaceRow,
  sourceId: string | null,
  items: readonly ReceivedFile[],
): Write<[ReceivedFile, AcceptedDocument][]> {
  const matches = yield* matchReceived(space, sourceId, items)
  const existing: [ReceivedFile, AcceptedDocument][] = []
  const compiled: { item: ReceivedFile; row: DocumentRow | undefined }[] = []
  for (const [index, item] of items.entries()) {
    const { same: row, latest } = matches[index] ?? {}
    if (row !== undefined && latest !== undefined && !hasEndedUnpublished(latest))
      existing.push([item, accepted(space, row, latest)])
    else compiled.push({ item, row })
  }
  yield* completeUploads(
    ['received', 'object-staged', 'canceled'],
    existing.map(([{ commitId }, { asset }]) => ({ commitId, documentId: asset.id, jobId: null })),
  )
  return [...existing, ...(yield* insertCompilations(caller, space, sourceId, compiled))]
}

/** Inserts the jobs of files, and the missing documents. */
function* insertCompilations(
  caller: Caller,
  space: SpaceRow,
  sourceId: string | null,
  files: readonly { item: ReceivedFile; row: DocumentRow | undefined }[],
): Write<[ReceivedFile, AcceptedDocument][]> {
  const added = files.flatMap(({ item, row }) => (row === undefined ? [item] : []))
  const inserted = yield* insertDocuments(added.map((item) => toNewDocument(space, sourceId, item)))
  const rows = new Map(added.map((item, index) => [item, inserted[index]]))
  const documents = files.flatMap(({ item, row }) => {
    const document = row ?? rows.get(item)
    return document === undefined ? [] : [{ item, document, isNew: row === undefined }]
  })
  const jobs = yield* insertJobs(
    space,
    documents.map(({ document }) => document),
  )
  // this transaction is the acknowledgement: the bytes are durable, verified by their hash, and have their row
  const path = ['received', 'object-staged', 'object-verified', 'metadata-prepared'] as const
  const results: UploadResult[] = []
  const acceptedFiles: [ReceivedFile, AcceptedDocument][] = []
  for (const [index, { item, document, isNew }] of documents.entries()) {
    const job = jobs[index]
    if (job === undefined) continue
    results.push({ commitId: item.commitId, documentId: document.id, jobId: job.id })
    const row = isNew ? document : yield* findDocument(caller, space.key, document.id)
    acceptedFiles.push([item, accepted(space, row, job)])
  }
  yield* completeUploads(path, results)
  return acceptedFiles
}

/** The result of an upload whose commit was not confirmed. */
function* findAdmittedUpload(
  caller: Caller,
  space: SpaceRow,
  received: readonly ReceivedFile[],
): Read<AcceptedDocument[] | undefined> {
  const documents: AcceptedDocument[] = []
  for (const { commitId } of received) {
    const id = yield* findUploadedDocument(space, commitId)
    if (id === undefined) return undefined
    const row = yield* findDocument(caller, space.key, id)
    const [job] = yield* listLatestJobs([row.key])
    if (job === undefined) return undefined
    documents.push(accepted(space, row, job))
  }
  return documents
}

function toNewDocument(space: SpaceRow, sourceId: string | null, item: ReceivedFile): NewDocument {
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

function matchReceived({ key }: SpaceRow, sourceId: string | null, received: readonly ReceivedFile[]) {
  const files = received.map(({ filename, staged: { sha256 } }) => ({ name: filename, sha256 }))
  return findUploadMatches(key, sourceId, files)
}
