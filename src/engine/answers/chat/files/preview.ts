import type { FileHandle } from 'node:fs/promises'
import { ChatError } from '../../../../contract/chat/errors.js'
import { KsError } from '../../../../contract/errors.js'
import type { EngineContext } from '../../../library/index.js'
import { damagedObjectError } from '../../../store/durable-files.js'
import type { Read } from '../../../store/program.js'
import { findAppByFile, findChatFile } from '../../../store/rows/chat/files.js'
import { type AppSession, findSession } from '../apps.js'

/** A file opened for reading; the receiver closes it. */
export interface OpenChatFile {
  name: string
  mimeType: string
  size: number
  /** SHA-256 of the bytes, in hexadecimal digits. */
  sha256: string
  handle: FileHandle
}

/**
 * Opens a file of a message of the application, by the id of the upload or by its id in the message.
 *
 * @throws ChatError `file_not_found`, `file_access_denied`, `service_unavailable`
 */
export async function openChatFile(
  { db, objects, log }: EngineContext,
  session: AppSession,
  id: string,
): Promise<OpenChatFile> {
  const row = await db.read(findChatFile(session.tenant, id))
  if (row === undefined) throw createFileNotFound()
  if (row.app_id !== session.app.id)
    throw new ChatError('file_access_denied', 'The file does not belong to this application.')
  if (row.attached === 0) throw createFileNotFound('the file is not part of a message yet')
  try {
    const stored = await objects.measure(row.object_key)
    if (stored?.sha256 !== row.sha256) throw damagedObjectError()
    const handle = await objects.open(row.object_key)
    return { name: row.name, mimeType: row.mime_type, size: row.size_bytes, sha256: row.sha256, handle }
  } catch (error) {
    if (error instanceof KsError && error.code === 'unavailable')
      throw new ChatError('service_unavailable', 'The files are temporarily unavailable.')
    log.error({ error: String(error), file: row.id }, 'the bytes of a chat file cannot be read')
    throw createFileNotFound()
  }
}

/** The application of a file, for a request with a signed address. */
export function* findSessionOfFile(id: string): Read<AppSession | undefined> {
  const app = yield* findAppByFile(id)
  return app === undefined ? undefined : yield* findSession(app)
}

function createFileNotFound(hint?: string): ChatError {
  return new ChatError('file_not_found', 'The file does not exist.', hint === undefined ? {} : { hint })
}
