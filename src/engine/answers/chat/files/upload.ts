import { Readable } from 'node:stream'
import type { ChatApp } from '../../../../contract/chat/apps.js'
import { ChatError, filenameMissingError, invalidParamError } from '../../../../contract/chat/errors.js'
import type { FileUpload } from '../../../../contract/chat/files.js'
import { CHAT_LIMITS } from '../../../../contract/chat/limits.js'
import { KsError } from '../../../../contract/errors.js'
import { newId } from '../../../../lib/ids.js'
import { toDiskError } from '../../../../local/disk-error.js'
import { getProvisionalMediaType } from '../../../base/file-names.js'
import { asTenant } from '../../../base/tenant-scope.js'
import { type EngineContext, storeObjects } from '../../../library/index.js'
import { ObjectStore, type StagedObject } from '../../../store/objects.js'
import type { Read, Write } from '../../../store/program.js'
import { ensureUser } from '../../../store/rows/chat/conversations.js'
import {
  type ChatFileRow,
  countUnusedUploads,
  expireFile,
  insertFile,
  isImage,
  markFileReady,
} from '../../../store/rows/chat/files.js'
import { type AppSession, toAppKey } from '../apps.js'
import type { UploadedDocuments } from './documents.js'
import { type ChatFileType, detectImageType, teeHead } from './image-type.js'

/** Retention of uploads that are not used in a message. */
const UNUSED_RETENTION_MS = 24 * 60 * 60 * 1000
/** A file without its bytes after this time is abandoned. */
const UNREADY_TIMEOUT_MS = 60 * 60 * 1000

export interface IncomingChatFile {
  filename: string
  content: Readable
}

/** One upload in progress: the file first, then its user, because forms send the user last. */
export interface ChatUpload {
  /** size of the largest file that the application accepts */
  maxBytes: number
  createTooLargeError(): ChatError
  /** @throws ChatError */
  receive(file: IncomingChatFile): Promise<void>
  /** @throws ChatError `no_file_uploaded`, `too_many_files`, `storage_…` */
  commit(user: string): Promise<FileUpload>
  /** Discards the received file. */
  abort(): Promise<void>
}

interface StagedChatFile {
  staged: StagedObject
  name: string
  type: ChatFileType
}

interface UploadServices {
  context: EngineContext
  uploads: UploadedDocuments
}

/**
 * Receives an image or a document. Order: bytes into a temporary file → a row that references them → fsync → rename,
 * synced → the row is ready. A crash in between leaves a row that expires, never one without bytes. A document that
 * cannot be read expires at once.
 */
export function startUpload({ context, uploads }: UploadServices, session: AppSession): ChatUpload {
  let received: StagedChatFile | undefined
  const takesDocuments = acceptsDocuments(session.app)
  return {
    maxBytes: takesDocuments ? CHAT_LIMITS.documentBytes : CHAT_LIMITS.imageBytes,
    createTooLargeError: () => createTooLargeError({ takesDocuments }),
    async receive(file) {
      if (received !== undefined) throw new ChatError('too_many_files', 'Only one file is allowed.')
      const name = toFileName(file.filename)
      received = await withStorageErrors(() => stageFile(context, name, file.content, { takesDocuments }), {
        takesDocuments,
      })
    },
    async commit(user) {
      if (received === undefined) throw new ChatError('no_file_uploaded', 'Please upload your file.')
      const { staged, name, type } = received
      const store = () => storeFile(context, session, user, { staged, name, type })
      const row = await asTenant(session.tenant, async () => {
        const stored = await withStorageErrors(store)
        if (!isImage(stored)) await assertReadable({ context, uploads }, stored)
        return stored
      })
      return {
        id: row.id,
        name: row.name,
        size: row.size_bytes,
        extension: row.extension,
        mime_type: row.mime_type,
        created_by: row.end_user_id,
        created_at: Math.floor(row.created_at / 1000),
      }
    },
    async abort() {
      if (received !== undefined) await context.objects.discard(received.staged.id)
    },
  }
}

/**
 * Stores bytes that the daemon fetched as a file of the end user.
 * @throws ChatError
 */
export async function storeImage(
  context: EngineContext,
  session: AppSession,
  user: string,
  { name, bytes }: { name: string; bytes: Buffer },
): Promise<ChatFileRow> {
  return withStorageErrors(async () => {
    const image = await stageFile(context, name, Readable.from([bytes]), { takesDocuments: false })
    try {
      return await storeFile(context, session, user, image)
    } catch (error) {
      await context.objects.discard(image.staged.id)
      throw error
    }
  })
}

/** Whether messages of an application may contain documents. Its spaces provide the settings of their search. */
export function acceptsDocuments({ documents, knowledgeSpaceIds }: ChatApp): boolean {
  return documents.enabled && knowledgeSpaceIds.length > 0
}

async function stageFile(
  { objects }: EngineContext,
  name: string,
  content: Readable,
  { takesDocuments }: { takesDocuments: boolean },
): Promise<StagedChatFile> {
  const id = newId()
  const head: Buffer[] = []
  const maxBytes = takesDocuments ? CHAT_LIMITS.documentBytes : CHAT_LIMITS.imageBytes
  const staged = await objects.stage(id, Readable.from(teeHead(content, head)), maxBytes, name)
  const type = await detectImageType(Buffer.concat(head), name)
  if (type !== undefined && staged.size <= CHAT_LIMITS.imageBytes) return { staged, name, type }
  if (type === undefined && takesDocuments) return { staged, name, type: toDocumentType(name) }
  await objects.discard(id)
  if (type !== undefined) throw createTooLargeError({ takesDocuments })
  const message = `File type not allowed: ${JSON.stringify(name)} is not a PNG, JPEG, WebP or GIF image, and the application takes no documents.`
  throw new ChatError('unsupported_file_type', message)
}

/** The type of a document by its name; never that of an image, which would be displayed. */
function toDocumentType(name: string): ChatFileType {
  const mimeType = getProvisionalMediaType(name, undefined)
  return {
    mimeType: mimeType.startsWith('image/') ? 'application/octet-stream' : mimeType,
    extension: /\.([^.]{1,20})$/.exec(name)?.[1]?.toLowerCase() ?? '',
  }
}

/** @throws ChatError `unsupported_file_type` with the reason */
async function assertReadable({ context, uploads }: UploadServices, file: ChatFileRow): Promise<void> {
  try {
    await uploads.read(file)
  } catch (error) {
    await context.db.write(() => expireFile(file, context.now()))
    context.wake()
    throw error
  }
}

async function storeFile(
  context: EngineContext,
  session: AppSession,
  user: string,
  { staged, name, type }: StagedChatFile,
): Promise<ChatFileRow> {
  const { db, now } = context
  const { tenant, app } = session
  const key = ObjectStore.key(tenant, staged.sha256)
  const createdAt = now()
  function* begin(): Write<ChatFileRow> {
    const file: ChatFileRow = {
      id: newId(),
      tenant,
      app_id: app.id,
      end_user_id: yield* ensureUser(toAppKey(session), user, createdAt),
      name,
      extension: type.extension,
      mime_type: type.mimeType,
      size_bytes: staged.size,
      sha256: staged.sha256,
      object_key: key,
      created_at: createdAt,
    }
    yield* assertUploadQuota(file, now())
    yield* insertFile(file, now() + UNREADY_TIMEOUT_MS)
    return file
  }
  return storeObjects(context, {
    tenant,
    incoming: [{ staged, key }],
    begin,
    async commit(writeHolds, row) {
      await db.write(function* () {
        yield* writeHolds()
        yield* markFileReady(row, now() + UNUSED_RETENTION_MS)
      })
      return row
    },
  })
}

/**
 * Limits files without a message, which only cost disk space. A file fetched for a message counts until the message has
 * it; the message may be rejected for another reason.
 *
 * @throws ChatError `too_many_files`
 */
function* assertUploadQuota(row: ChatFileRow, now: number): Read<void> {
  const { files, bytes } = yield* countUnusedUploads(
    { tenant: row.tenant, appId: row.app_id, userId: row.end_user_id },
    now,
  )
  const { unusedFilesPerUser, unusedBytesPerApp } = CHAT_LIMITS
  const hint = 'uploads that are not used in a message are deleted after 24 hours'
  if (files >= unusedFilesPerUser)
    throw new ChatError(
      'too_many_files',
      `An end user can have at most ${unusedFilesPerUser} uploads that are not used in a message.`,
      { hint },
    )
  if (bytes + row.size_bytes > unusedBytesPerApp)
    throw new ChatError(
      'too_many_files',
      `Uploads of an application that are not used in a message can have at most ${unusedBytesPerApp} bytes.`,
      { hint },
    )
}

/** @throws ChatError `filename_not_exists_error`, `invalid_param` */
function toFileName(filename: string): string {
  const name = filename.replace(/\p{Cc}/gu, '').trim()
  if (name === '') throw filenameMissingError()
  if (/[/\\]/.test(name)) throw invalidParamError('file', 'the file name must contain neither / nor \\')
  return truncateName(name)
}

/** Truncates a long name before its extension. */
function truncateName(name: string): string {
  const characters = [...name]
  if (characters.length <= CHAT_LIMITS.filename) return name
  const ending = /\.[^.]{1,10}$/.exec(name)?.[0] ?? ''
  return characters.slice(0, CHAT_LIMITS.filename - ending.length).join('') + ending
}

const FORBIDDEN_CODES = new Set(['EACCES', 'EPERM', 'EROFS'])

/** Maps disk errors to the codes of this service. */
async function withStorageErrors<T>(work: () => Promise<T>, accepted = { takesDocuments: false }): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw toStorageError(error, accepted)
  }
}

/** The error for a file above the limit of images, or of documents where they are taken. */
function createTooLargeError({ takesDocuments }: { takesDocuments: boolean }): ChatError {
  const documents = takesDocuments ? `, and a document at most ${CHAT_LIMITS.documentBytes}` : ''
  return new ChatError(
    'file_too_large',
    `File size exceeded: an image has at most ${CHAT_LIMITS.imageBytes} bytes${documents}.`,
  )
}

function toStorageError(error: unknown, accepted: { takesDocuments: boolean }): unknown {
  if (error instanceof KsError && error.code === 'upload-too-large') return createTooLargeError(accepted)
  const diskFailure = toDiskError(error) ?? error
  if (diskFailure instanceof KsError && diskFailure.code === 'storage-full')
    return new ChatError('storage_file_too_large', 'The file does not fit into the storage.')
  const origin = error instanceof KsError ? error.cause : error
  const code = origin instanceof Error && 'code' in origin && 'syscall' in origin ? String(origin.code) : ''
  if (code === '') return error
  if (FORBIDDEN_CODES.has(code)) return new ChatError('storage_permission_denied', 'The storage cannot be written.')
  return new ChatError('storage_connection_failed', 'The storage is unavailable.')
}
