import { KsError } from '../../../contract/errors.js'
import type { AcceptedDocument } from '../../../contract/gateway/documents.js'
import { newId } from '../../../lib/ids.js'
import type { Caller } from '../../base/caller.js'
import { getProvisionalMediaType, toStoredName } from '../../base/file-names.js'
import { asTenant } from '../../base/tenant-scope.js'
import type { Upload, UploadFile, UploadOptions } from '../../base/upload.js'
import { ObjectStore } from '../../store/objects.js'
import type { Read, Write } from '../../store/program.js'
import { findDocument } from '../../store/rows/documents.js'
import { hasEndedUnpublished, listLatestJobs } from '../../store/rows/jobs.js'
import { findSource } from '../../store/rows/sources.js'
import { freezeEmbeddingModel } from '../../store/rows/space-changes.js'
import { findSpace, type SpaceRow } from '../../store/rows/spaces.js'
import { failUploads, findUploadedDocument, insertUploadCommits } from '../../store/rows/staged-commits.js'
import { writeReply } from '../../store/write-reply.js'
import type { EngineContext } from '../context.js'
import { storeObjects } from '../objects/receive.js'
import { removeUnreferenced } from '../objects/remove.js'
import { assertPageBudget } from '../spaces/parser-pages.js'
import { assertDocumentQuota, assertRawBytesQuota } from '../spaces/quota.js'
import { type AdmittedUpload, admitFiles, matchReceived, type StagedUploadFile, toAccepted } from './admit-files.js'

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
  const received: StagedUploadFile[] = []
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
  received: StagedUploadFile[]
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
  const { received: count, again } = await db.read(countNewFiles(context, space, sourceId, received))
  if (count + again > 0) await assertPageBudget(context, space, count + again)
  function* admitAll(markReferenced: () => Write<void>): Write<AdmittedUpload> {
    yield* markReferenced()
    const live = yield* findSpace(space.tenant, space.id)
    // it may have been deleted while the bytes were received
    if (sourceId !== null) yield* findSource(caller, live, sourceId)
    if (live.frozen_at === null) yield* freezeEmbeddingModel(space.key)
    const admitted = yield* admitFiles(caller, space, sourceId, received)
    // several uploads may have been admitted at once
    if (count > 0) yield* assertRawBytesQuota(context, space)
    return admitted
  }
  const { accepted, replacedKeys, seq } = await storeObjects(context, {
    tenant: space.tenant,
    incoming: received.map(({ staged, objectKey }) => ({ staged, key: objectKey })),
    begin: () => insertCommits(context, space, sourceId, received),
    commit(markReferenced) {
      const { recordAnswer: _, ...callerWithoutAnswer } = caller
      // if the request continues after the upload, the upload is not its answer
      const effectiveCaller = answer === undefined ? callerWithoutAnswer : caller
      return writeReply(db, effectiveCaller, () => admitAll(markReferenced), {
        ...(answer === undefined ? {} : { toReply: (admitted: AdmittedUpload) => answer(admitted.accepted) }),
        findResult: () => findAdmittedUpload(caller, space, received),
        lock: space.key,
      })
    },
  })
  context.wake()
  if (seq > 0) context.indexes.announce(space.id, seq)
  await removeUnreferenced(context, space.tenant, replacedKeys)
  return accepted
}

/** Counts files that the space lacks, and those to compile again after a failure. @throws KsError `quota-exceeded` */
function* countNewFiles(
  context: EngineContext,
  space: SpaceRow,
  sourceId: string | null,
  received: readonly StagedUploadFile[],
): Read<{ received: number; again: number }> {
  let count = 0
  let again = 0
  let bytes = 0
  for (const [index, { newest, same, latest }] of (yield* matchReceived(space, sourceId, received)).entries()) {
    if (same === undefined) {
      count += 1
      bytes += (received[index]?.staged.size ?? 0) - (newest?.size_bytes ?? 0)
    } else if (hasEndedUnpublished(latest)) again += 1
  }
  if (count > 0) yield* assertDocumentQuota(context, space, bytes)
  return { received: count, again }
}

function* insertCommits(
  { instance }: EngineContext,
  space: SpaceRow,
  sourceId: string | null,
  received: readonly StagedUploadFile[],
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
async function cleanUp(
  context: EngineContext,
  space: SpaceRow,
  files: StagedUploadFile[],
  error: unknown,
): Promise<void> {
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

/** The result of an upload whose commit was not confirmed. */
function* findAdmittedUpload(
  caller: Caller,
  space: SpaceRow,
  received: readonly StagedUploadFile[],
): Read<AdmittedUpload | undefined> {
  const documents: AcceptedDocument[] = []
  for (const { commitId } of received) {
    const id = yield* findUploadedDocument(space, commitId)
    if (id === undefined) return undefined
    const row = yield* findDocument(caller, space.key, id)
    const [job] = yield* listLatestJobs([row.key])
    if (job === undefined) return undefined
    documents.push(toAccepted(space, row, job))
  }
  // the clean-up removes replaced bytes, and the index reads its log
  return { accepted: documents, replacedKeys: [], seq: 0 }
}
