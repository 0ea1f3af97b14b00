import type { MessageFile } from '../../../../contract/chat/messages.js'
import { newId } from '../../../../lib/ids.js'
import { sqlHoldsTime } from '../../formats.js'
import { type Read, sql, type Write } from '../../program.js'
import type { AppScope } from './apps.js'
import type { EndUserScope } from './conversations.js'

export interface ChatFileRow {
  id: string
  tenant: string
  app_id: string
  end_user_id: string
  name: string
  extension: string
  mime_type: string
  size_bytes: number
  sha256: string
  object_key: string
  created_at: number
}

/** A file as part of a message. */
export interface AttachedFileRow extends ChatFileRow {
  link_id: string
  belongs_to: 'user' | 'assistant'
  transfer_method: 'remote_url' | 'local_file'
  url: string | null
}

/** A file that is sent with a message. */
export interface Attachment {
  fileId: string
  /** address that the file was fetched from; absent for an upload */
  url?: string
}

const FILE_COLUMNS = `f.id, f.tenant, f.app_id, f.end_user_id, f.name, f.extension, f.mime_type, f.size_bytes, f.sha256,
  f.object_key, f.created_at`

/** Inserts a file before its bytes are stored; it expires at `expiresAt` unless it becomes ready. */
export function* insertFile(row: ChatFileRow, expiresAt: number): Write<void> {
  yield* sql.run(
    `INSERT INTO chat_files (id, tenant, app_id, end_user_id, name, extension, mime_type, size_bytes, sha256, object_key,
       expires_at, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [
      row.id,
      row.tenant,
      row.app_id,
      row.end_user_id,
      row.name,
      row.extension,
      row.mime_type,
      row.size_bytes,
      row.sha256,
      row.object_key,
      expiresAt,
      row.created_at,
    ],
  )
}

export function* markFileReady({ tenant, id }: Pick<ChatFileRow, 'tenant' | 'id'>, expiresAt: number): Write<void> {
  yield* sql.run('UPDATE chat_files SET ready = 1, expires_at = ? WHERE tenant = ? AND id = ?', [expiresAt, tenant, id])
}

/** A file that this end user uploaded to the application and that has not expired. */
export function* findOwnFile(endUser: EndUserScope, id: string, now: number): Read<ChatFileRow | undefined> {
  return yield* sql.get<ChatFileRow>(
    `SELECT ${FILE_COLUMNS} FROM chat_files f WHERE tenant = ? AND id = ? AND app_id = ? AND end_user_id = ? AND ready = 1
       AND (expires_at IS NULL OR expires_at > ?)`,
    [endUser.tenant, id, endUser.appId, endUser.userId, now],
  )
}

/**
 * Uploads that are not expired and not part of a message: number of the end user's files, and bytes of the whole
 * application.
 */
export function* countUnusedUploads(endUser: EndUserScope, now: number): Read<{ files: number; bytes: number }> {
  const counts = yield* sql.get<{ files: number; bytes: number }>(
    `SELECT count(*) FILTER (WHERE end_user_id = ?) files, coalesce(sum(size_bytes), 0) bytes FROM chat_files
     WHERE tenant = ? AND app_id = ? AND expires_at > ?`,
    [endUser.userId, endUser.tenant, endUser.appId, now],
  )
  return counts ?? { files: 0, bytes: 0 }
}

/** Binds files to a message, inside the caller's transaction. @returns the id of a file that has expired meanwhile */
export function* attachFiles(
  endUser: EndUserScope,
  messageId: string,
  attachments: Attachment[],
  now: number,
): Write<string | undefined> {
  for (const [index, { fileId, url }] of attachments.entries()) {
    if ((yield* findOwnFile(endUser, fileId, now)) === undefined) return fileId
    yield* sql.run('UPDATE chat_files SET expires_at = NULL WHERE tenant = ? AND id = ?', [endUser.tenant, fileId])
    yield* sql.run(
      `INSERT INTO chat_message_files (tenant, id, message_id, place, file_id, belongs_to, transfer_method, url)
       VALUES (?, ?, ?, ?, ?, 'user', ?, ?)`,
      [endUser.tenant, newId(), messageId, index, fileId, url === undefined ? 'local_file' : 'remote_url', url ?? null],
    )
  }
  return undefined
}

/** The files of a message, in the order they were sent. */
export function* listMessageFiles({ tenant }: AppScope, messageId: string): Read<AttachedFileRow[]> {
  return yield* sql.all<AttachedFileRow>(
    `SELECT ${FILE_COLUMNS}, m.id link_id, m.belongs_to, m.transfer_method, m.url
     FROM chat_message_files m JOIN chat_files f ON f.tenant = m.tenant AND f.id = m.file_id
     WHERE m.tenant = ? AND m.message_id = ? ORDER BY m.place`,
    [tenant, messageId],
  )
}

/** SQL: the file is an image; its type comes from its bytes. */
const IS_IMAGE = "f.mime_type LIKE 'image/%'"

/** Whether a file is an image; others are documents. */
export function isImage({ mime_type }: Pick<ChatFileRow, 'mime_type'>): boolean {
  return mime_type.startsWith('image/')
}

/** The newest documents of an end user's conversation, up to a position, newest first. */
export function* listConversationDocuments(
  endUser: EndUserScope,
  conversationId: string,
  range: { last: number; limit: number },
): Read<ChatFileRow[]> {
  return yield* sql.all<ChatFileRow>(
    `SELECT ${FILE_COLUMNS} FROM chat_messages c
     JOIN chat_message_files m ON m.tenant = c.tenant AND m.message_id = c.id
     JOIN chat_files f ON f.tenant = m.tenant AND f.id = m.file_id
     WHERE c.tenant = ? AND c.app_id = ? AND c.end_user_id = ? AND c.conversation_id = ? AND c.place <= ?
       AND f.app_id = c.app_id AND f.end_user_id = c.end_user_id AND NOT ${IS_IMAGE}
     ORDER BY c.place DESC, m.place LIMIT ?`,
    [endUser.tenant, endUser.appId, endUser.userId, conversationId, range.last, range.limit],
  )
}

/** Lets a file expire at once, since it cannot be used. */
export function* expireFile({ tenant, id }: Pick<ChatFileRow, 'tenant' | 'id'>, now: number): Write<void> {
  yield* sql.run('UPDATE chat_files SET expires_at = ? WHERE tenant = ? AND id = ? AND expires_at IS NOT NULL', [
    now,
    tenant,
    id,
  ])
}

/** The images of the newest message with images, of those in a range of positions. */
export function* listNewestFiles(
  endUser: EndUserScope,
  conversationId: string,
  positions: { after: number; last: number },
) {
  const message = yield* sql.get<{ id: string }>(
    `SELECT id FROM chat_messages c
     WHERE tenant = ? AND app_id = ? AND end_user_id = ? AND conversation_id = ? AND place > ? AND place <= ?
       AND EXISTS (SELECT 1 FROM chat_message_files m JOIN chat_files f ON f.tenant = m.tenant AND f.id = m.file_id
         WHERE m.tenant = c.tenant AND m.message_id = c.id AND ${IS_IMAGE}) ORDER BY place DESC LIMIT 1`,
    [endUser.tenant, endUser.appId, endUser.userId, conversationId, positions.after, positions.last],
  )
  return message === undefined ? [] : (yield* listMessageFiles(endUser, message.id)).filter(isImage)
}

/** A file of a tenant by its own id or by its id in a message, and whether it is part of a message. */
export function* findChatFile(tenant: string, id: string): Read<(ChatFileRow & { attached: 0 | 1 }) | undefined> {
  return yield* sql.get<ChatFileRow & { attached: 0 | 1 }>(
    `SELECT ${FILE_COLUMNS},
       EXISTS (SELECT 1 FROM chat_message_files m WHERE m.tenant = f.tenant AND m.file_id = f.id) attached
     FROM chat_files f WHERE f.tenant = ? AND f.ready = 1
       AND f.id = coalesce((SELECT file_id FROM chat_message_files WHERE tenant = ? AND id = ?), ?)`,
    [tenant, tenant, id, id],
  )
}

/**
 * The application of a file, by the file's own id or by its id in a message. The caller has checked the signed address,
 * which contains no tenant.
 */
export function* findAppByFile(id: string): Read<AppScope | undefined> {
  return yield* sql.get<AppScope>(
    `SELECT f.tenant, f.app_id appId FROM chat_files f WHERE f.id = ? AND f.ready = 1 UNION ALL
     SELECT f.tenant, f.app_id appId FROM chat_message_files m JOIN chat_files f ON f.tenant = m.tenant AND f.id = m.file_id
     WHERE m.id = ? AND f.ready = 1 LIMIT 1`,
    [id, id],
  )
}

/** Deletes and returns the next file that has expired, inside the caller's transaction. */
export function* takeExpiredFile(now: number): Write<ChatFileRow | undefined> {
  const row = yield* sql.get<ChatFileRow>(
    `SELECT ${FILE_COLUMNS} FROM chat_files f WHERE expires_at <= ? AND ${sqlHoldsTime('expires_at')}
     ORDER BY expires_at LIMIT 1`,
    [now],
  )
  if (row !== undefined) yield* sql.run('DELETE FROM chat_files WHERE tenant = ? AND id = ?', [row.tenant, row.id])
  return row
}

/** @param linkTo returns the address that opens a file without a key */
export function toMessageFile(row: AttachedFileRow, linkTo: (id: string) => string): MessageFile {
  return {
    id: row.link_id,
    type: isImage(row) ? 'image' : 'document',
    url: row.url ?? linkTo(row.link_id),
    belongs_to: row.belongs_to,
    filename: row.name,
    mime_type: row.mime_type,
    size: row.size_bytes,
    transfer_method: row.transfer_method,
    upload_file_id: row.transfer_method === 'local_file' ? row.id : null,
  }
}
