import type { ChatApp } from '../../../../contract/chat/apps.js'
import { ChatError, invalidParamError } from '../../../../contract/chat/errors.js'
import { CHAT_LIMITS } from '../../../../contract/chat/limits.js'
import type { ChatRequest, InputFile } from '../../../../contract/chat/messages.js'
import type { EngineContext } from '../../../library/index.js'
import type { ChatImage, SafeFetch } from '../../../models/index.js'
import type { Read } from '../../../store/program.js'
import { type EndUserScope, findMessagePosition } from '../../../store/rows/chat/conversations.js'
import {
  type AttachedFileRow,
  type Attachment,
  findOwnFile,
  isImage,
  listNewestFiles,
} from '../../../store/rows/chat/files.js'
import { getChatModel } from '../answer.js'
import type { AppSession } from '../apps.js'
import { findEndUser } from '../conversations.js'
import type { TurnIds } from '../frames.js'
import { acceptsDocuments, storeImage } from './upload.js'

const FETCH_TIMEOUT_MS = 10_000
/** A question up to this many messages after an image still shows it to the model. */
const MAX_IMAGE_AGE_TURNS = 4

/**
 * Resolves the images and documents of a message to files of its sender: finds uploads, fetches addresses of images.
 *
 * @throws ChatError `invalid_param` with the file and the reason, `model_currently_not_support`
 */
export async function resolveFiles(
  context: EngineContext,
  fetcher: SafeFetch,
  session: AppSession,
  { files, user }: ChatRequest,
): Promise<Attachment[]> {
  const images = files.filter(({ type }) => type === 'image')
  const documents = files.filter(({ type }) => type === 'document')
  const attachedDocuments = await resolveDocuments(context, session, user, documents)
  return [...(await resolveImages(context, fetcher, session, { images, user })), ...attachedDocuments]
}

/** Finds uploaded documents of the sender. */
async function resolveDocuments(
  context: EngineContext,
  session: AppSession,
  user: string,
  documents: readonly InputFile[],
): Promise<Attachment[]> {
  if (documents.length === 0) return []
  const { numberLimits } = session.app.documents
  if (!acceptsDocuments(session.app)) throw createInvalidFilesError('the application takes no documents')
  if (documents.length > numberLimits)
    throw createInvalidFilesError(`a message has at most ${numberLimits} documents here, received ${documents.length}`)
  const attachments: Attachment[] = []
  for (const document of documents) {
    const ref = toReference(document, ['local_file'])
    if (!('id' in ref)) continue
    const { fileId } = await context.db.read(findLocalFile(context, session, user, { id: ref.id, type: 'document' }))
    attachments.push({ fileId })
  }
  return attachments
}

async function resolveImages(
  context: EngineContext,
  fetcher: SafeFetch,
  session: AppSession,
  { images, user }: { images: readonly InputFile[]; user: string },
): Promise<Attachment[]> {
  if (images.length === 0) return []
  const { vision } = session.app
  if (!vision.enabled) throw createInvalidFilesError('the application does not accept images: vision is disabled')
  if (getChatModel(context, session.app) === undefined)
    throw new ChatError('model_currently_not_support', 'the application has no model that supports images')
  if (images.length > vision.numberLimits)
    throw createInvalidFilesError(`a message has at most ${vision.numberLimits} images here, received ${images.length}`)
  const refs = images.map((image) => toReference(image, vision.transferMethods))
  const attachments: (Attachment & { size: number })[] = []
  for (const ref of refs)
    attachments.push(
      'id' in ref
        ? await context.db.read(findLocalFile(context, session, user, { id: ref.id, type: 'image' }))
        : await fetchRemoteFile(context, fetcher, session, { user, url: ref.url }),
    )
  if (attachments.reduce((sum, { size }) => sum + size, 0) > CHAT_LIMITS.messageImageBytes)
    throw createInvalidFilesError(
      `the images of a message have at most ${CHAT_LIMITS.messageImageBytes} bytes together`,
    )
  return attachments.map(({ size: _, ...attachment }) => attachment)
}

function toReference(file: InputFile, allowed: readonly string[]): { id: string } | { url: string } {
  const { transfer_method: method, url, upload_file_id: id } = file
  if (!allowed.includes(method)) throw createInvalidFilesError(`the application does not accept files by ${method}`)
  if (url && id) throw createInvalidFilesError('a file has either url or upload_file_id, not both')
  if (method === 'local_file') {
    if (id) return { id: id.toLowerCase() }
    throw createInvalidFilesError('upload_file_id is required for a local_file')
  }
  if (url) return { url }
  throw createInvalidFilesError('url is required for a remote_url')
}

function* findLocalFile(
  context: EngineContext,
  session: AppSession,
  user: string,
  { id, type }: Pick<InputFile, 'type'> & { id: string },
) {
  const endUser = yield* findEndUser(session, user)
  const row = endUser === undefined ? undefined : yield* findOwnFile(endUser, id, context.now())
  if (row === undefined || isImage(row) !== (type === 'image')) throw createExpiredError(id, type)
  return { fileId: row.id, size: row.size_bytes }
}

async function fetchRemoteFile(
  context: EngineContext,
  fetcher: SafeFetch,
  session: AppSession,
  { user, url }: { user: string; url: string },
) {
  const createFetchError = (reason: string) =>
    createInvalidFilesError(`the image at ${JSON.stringify(url.slice(0, 200))} ${reason}`)
  const options = { maxBytes: CHAT_LIMITS.imageBytes, timeoutMs: FETCH_TIMEOUT_MS }
  const fetched = await fetcher.get(url, options).catch((error: Error) => {
    throw createFetchError(`cannot be fetched: ${error.message}`)
  })
  if (fetched.status !== 200) throw createFetchError(`cannot be fetched: status ${fetched.status}`)
  const name = getNameFromUrl(fetched.url)
  const row = await storeImage(context, session, user, { name, bytes: fetched.body }).catch((error: unknown) => {
    if (!(error instanceof ChatError)) throw error
    if (error.code === 'unsupported_file_type') throw createFetchError('is not a PNG, JPEG, WebP or GIF image')
    throw error.code === 'too_many_files' ? createFetchError(`cannot be stored. ${error.message}`) : error
  })
  return { fileId: row.id, size: row.size_bytes, url }
}

/** The last part of an address as a file name. */
function getNameFromUrl(url: string): string {
  const last = new URL(url).pathname.split('/').at(-1) ?? ''
  return last.replace(/[^\w.-]/g, '_').slice(-CHAT_LIMITS.filename) || 'image'
}

/** The error for an upload that does not exist for this user. */
export function createExpiredError(id: string, type?: InputFile['type']): ChatError {
  const kind = type === undefined ? 'a file' : type === 'image' ? 'an image' : 'a document'
  return createInvalidFilesError(
    `Invalid upload file: ${JSON.stringify(id.slice(0, 100))} is not ${kind} that this user uploaded, or it has expired`,
  )
}

function createInvalidFilesError(sentence: string): ChatError {
  return invalidParamError('files', sentence)
}

/** The images that the model sees in a turn: those of the message, or of a few messages before. */
export async function loadImages(
  context: EngineContext,
  { vision }: ChatApp,
  endUser: EndUserScope,
  { messageId, conversationId }: TurnIds,
): Promise<ChatImage[]> {
  const { db, objects } = context
  if (!vision.enabled) return []
  const images: ChatImage[] = []
  for (const row of await db.read(findVisibleFiles(endUser, messageId, conversationId))) {
    const bytes = await objects.bytes(row.object_key)
    images.push({ mimeType: row.mime_type, base64: bytes.toString('base64'), detail: vision.detail })
  }
  return images
}

/** The files of a message, or those of a few messages before. */
function* findVisibleFiles(endUser: EndUserScope, messageId: string, conversationId: string): Read<AttachedFileRow[]> {
  const own = yield* findMessagePosition(endUser, messageId)
  if (own === undefined) return []
  return yield* listNewestFiles(endUser, conversationId, { after: own - MAX_IMAGE_AGE_TURNS, last: own })
}
