import { isUuid } from '../../../../lib/ids.js'
import type { Caller } from '../../../base/caller.js'
import { type Read, readClock, sql, type Write } from '../../program.js'

/** Identifies a chat application: all rows of an application are looked up by both. */
export interface AppScope {
  tenant: string
  appId: string
}

/** A row of `chat_apps`. */
export interface AppRow {
  id: string
  tenant: string
  /** subject that made the application */
  owner: string
  /** JSON */
  body: string
  created_at: number
  updated_at: number
}

/** A row of `chat_keys`, without the hash. */
export interface ChatKeyRow {
  id: string
  hint: string
  created_at: number
  revoked_at: number | null
}

export function* countApps(tenant: string): Read<number> {
  return yield* sql.count('SELECT count(*) n FROM chat_apps WHERE tenant = ?', [tenant])
}

/** Inside the caller's transaction. */
export function* insertApp({ tenant, subject }: Caller, id: string, fields: object): Write<void> {
  const now = yield* readClock()
  yield* sql.run('INSERT INTO chat_apps (id, tenant, owner, body, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?)', [
    id,
    tenant,
    subject,
    JSON.stringify(fields),
    now,
    now,
  ])
}

/** The applications that a subject created. */
export function* listOwnApps({ tenant, subject }: Caller): Read<AppRow[]> {
  return yield* sql.all<AppRow>('SELECT * FROM chat_apps WHERE tenant = ? AND owner = ? ORDER BY id', [tenant, subject])
}

export function* findOwnApp({ tenant, subject }: Caller, id: string): Read<AppRow | undefined> {
  if (!isUuid(id)) return undefined
  return yield* sql.get<AppRow>('SELECT * FROM chat_apps WHERE tenant = ? AND owner = ? AND id = ?', [
    tenant,
    subject,
    id,
  ])
}

/** Inside the caller's transaction. */
export function* updateAppRow({ tenant, subject }: Caller, id: string, fields: object): Write<void> {
  yield* sql.run('UPDATE chat_apps SET body = ?, updated_at = ? WHERE tenant = ? AND owner = ? AND id = ?', [
    JSON.stringify(fields),
    yield* readClock(),
    tenant,
    subject,
    id,
  ])
}

/** Inside the caller's transaction. */
export function* deleteAppRow({ tenant, subject }: Caller, id: string): Write<void> {
  yield* sql.run('DELETE FROM chat_apps WHERE tenant = ? AND owner = ? AND id = ?', [tenant, subject, id])
}

/** The application of a key that is not revoked. */
export function* findAppByKey(hash: Uint8Array): Read<AppRow | undefined> {
  return yield* sql.get<AppRow>(
    `SELECT a.* FROM chat_keys k JOIN chat_apps a ON a.tenant = k.tenant AND a.id = k.app_id WHERE k.hash = ? AND k.revoked_at IS NULL`,
    [hash],
  )
}

export function* findAppById({ tenant, appId }: AppScope): Read<AppRow | undefined> {
  return yield* sql.get<AppRow>('SELECT * FROM chat_apps WHERE tenant = ? AND id = ?', [tenant, appId])
}

export function* countKeys({ tenant, appId }: AppScope): Read<number> {
  return yield* sql.count('SELECT count(*) n FROM chat_keys WHERE tenant = ? AND app_id = ?', [tenant, appId])
}

/** Inside the caller's transaction. */
export function* insertKey({ tenant, appId }: AppScope, row: ChatKeyRow, hash: Uint8Array): Write<void> {
  yield* sql.run('INSERT INTO chat_keys (tenant, id, app_id, hash, hint, created_at) VALUES (?, ?, ?, ?, ?, ?)', [
    tenant,
    row.id,
    appId,
    hash,
    row.hint,
    row.created_at,
  ])
}

export function* listChatKeys({ tenant, appId }: AppScope): Read<ChatKeyRow[]> {
  return yield* sql.all<ChatKeyRow>('SELECT * FROM chat_keys WHERE tenant = ? AND app_id = ? ORDER BY id', [
    tenant,
    appId,
  ])
}

/** Revokes a key, or leaves it revoked, inside the caller's transaction. @returns whether the key exists */
export function* revokeChatKey({ tenant, appId }: AppScope, keyId: string): Write<boolean> {
  const { changes } = yield* sql.run(
    'UPDATE chat_keys SET revoked_at = coalesce(revoked_at, ?) WHERE tenant = ? AND app_id = ? AND id = ?',
    [yield* readClock(), tenant, appId, keyId],
  )
  return changes > 0
}
