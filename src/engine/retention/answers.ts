import type { Database } from '../storage/database.js'
import { inOneWrite, type Slice } from './slice.js'

/** how long the answer to a write is kept under its idempotency key */
export const ANSWERS_KEPT_MS = 24 * 60 * 60 * 1000

/** Answers that were kept under idempotency keys. They belong to tenants, not to spaces. */
export async function forgetAnswers(db: Database, now: number, batchRows: number): Promise<Slice> {
  const rows = db.all<{ tenant: string; subject: string; key: string }>(
    'SELECT tenant, subject, key FROM idempotency WHERE created_at < ? ORDER BY created_at LIMIT ?',
    ...[now - ANSWERS_KEPT_MS, batchRows],
  )
  return inOneWrite(db, rows, batchRows, ({ tenant, subject, key }) =>
    db.run('DELETE FROM idempotency WHERE tenant = ? AND subject = ? AND key = ?', tenant, subject, key),
  )
}
