import type { ChatApp } from '../../../contract/chat/apps.js'
import { ChatError, invalidParam } from '../../../contract/chat/errors.js'
import { CHAT_LIMITS } from '../../../contract/chat/limits.js'
import type { ChatRequest, InputFile } from '../../../contract/chat/messages.js'
import type { EngineContext } from '../../context.js'
import type { SafeFetch } from '../../egress/safe-fetch.js'
import type { ChatImage } from '../../models/types.js'
import { placeOfMessage, type Who } from '../../rows/chat/conversations.js'
import { type AttachedRow, type Attachment, newestFiles, ownFile } from '../../rows/chat/files.js'
import type { Read } from '../../storage/program.js'
import { chatModel } from '../answer.js'
import type { AppSession } from '../apps.js'
import { whoIs } from '../conversations.js'
import type { TurnIds } from '../frames.js'
import { keepImage } from './upload.js'

const FETCH_MS = 10_000
/** A question up to this many messages after an image still shows it to the model. */
const IMAGE_TURNS = 4

/**
 * Resolves the images of a message to files of its sender: finds uploads, fetches addresses.
 *
 * @throws ChatError `invalid_param` with the file and the reason, `model_currently_not_support`
 */
export async function takeFiles(
  context: EngineContext,
  fetcher: SafeFetch,
  session: AppSession,
  { files, user }: ChatRequest,
): Promise<Attachment[]> {
  if (files.length === 0) return []
  const { vision } = session.app
  if (!vision.enabled) throw invalid('the application does not accept images: vision is disabled')
  if (chatModel(context, session.app) === undefined)
    throw new ChatError('model_currently_not_support', 'the application has no model that supports images')
  if (files.length > vision.numberLimits)
    throw invalid(`a message has at most ${vision.numberLimits} images here, received ${files.length}`)
  const refs = files.map((file) => referenceOf(file, vision.transferMethods))
  const taken: (Attachment & { size: number })[] = []
  for (const ref of refs)
    taken.push(
      'id' in ref
        ? await context.db.read(localFile(context, session, user, ref.id))
        : await remoteFile(context, fetcher, session, user, ref.url),
    )
  if (taken.reduce((sum, { size }) => sum + size, 0) > CHAT_LIMITS.messageImageBytes)
    throw invalid(`the images of a message have at most ${CHAT_LIMITS.messageImageBytes} bytes together`)
  return taken.map(({ size: _, ...attachment }) => attachment)
}

function referenceOf(file: InputFile, allowed: readonly string[]): { id: string } | { url: string } {
  const { transfer_method: method, url, upload_file_id: id } = file
  if (!allowed.includes(method)) throw invalid(`the application does not accept files by ${method}`)
  if (url && id) throw invalid('a file has either url or upload_file_id, not both')
  if (method === 'local_file') {
    if (id) return { id: id.toLowerCase() }
    throw invalid('upload_file_id is required for a local_file')
  }
  if (url) return { url }
  throw invalid('url is required for a remote_url')
}

function* localFile(context: EngineContext, session: AppSession, user: string, id: string) {
  const who = yield* whoIs(session, user)
  const row = who === undefined ? undefined : yield* ownFile(who, id, context.now())
  if (row === undefined) throw expired(id)
  return { fileId: row.id, size: row.size_bytes }
}

async function remoteFile(context: EngineContext, fetcher: SafeFetch, session: AppSession, user: string, url: string) {
  const because = (reason: string) => invalid(`the image at ${JSON.stringify(url.slice(0, 200))} ${reason}`)
  const options = { maxBytes: CHAT_LIMITS.imageBytes, timeoutMs: FETCH_MS }
  const fetched = await fetcher.get(url, options).catch((error: Error) => {
    throw because(`cannot be fetched: ${error.message}`)
  })
  if (fetched.status !== 200) throw because(`cannot be fetched: status ${fetched.status}`)
  const name = nameIn(fetched.url)
  const row = await keepImage(context, session, user, { name, bytes: fetched.body }).catch((error: unknown) => {
    if (!(error instanceof ChatError)) throw error
    if (error.code === 'unsupported_file_type') throw because('is not a PNG, JPEG, WebP or GIF image')
    throw error.code === 'too_many_files' ? because(`cannot be stored. ${error.message}`) : error
  })
  return { fileId: row.id, size: row.size_bytes, url }
}

/** The last part of an address as a file name. */
function nameIn(url: string): string {
  const last = new URL(url).pathname.split('/').at(-1) ?? ''
  return last.replace(/[^\w.-]/g, '_').slice(-CHAT_LIMITS.filename) || 'image'
}

/** The error for an upload that does not exist for this user. */
export function expired(id: string): ChatError {
  return invalid(
    `Invalid upload file: ${JSON.stringify(id.slice(0, 100))} is not an image that this user uploaded, or it has expired`,
  )
}

function invalid(sentence: string): ChatError {
  return invalidParam('files', sentence)
}

/** The images that the model sees in a turn: those of the message, or of a few messages before. */
export async function imagesOf(
  context: EngineContext,
  { vision }: ChatApp,
  who: Who,
  { messageId, conversationId }: TurnIds,
): Promise<ChatImage[]> {
  const { db, objects } = context
  if (!vision.enabled) return []
  const images: ChatImage[] = []
  for (const row of await db.read(filesShown(who, messageId, conversationId))) {
    const bytes = await objects.bytes(row.object_key)
    images.push({ mimeType: row.mime_type, base64: bytes.toString('base64'), detail: vision.detail })
  }
  return images
}

/** The files of a message, or those of a few messages before. */
function* filesShown(who: Who, messageId: string, conversationId: string): Read<AttachedRow[]> {
  const own = yield* placeOfMessage(who, messageId)
  if (own === undefined) return []
  return yield* newestFiles(who, conversationId, { after: own - IMAGE_TURNS, to: own })
}
