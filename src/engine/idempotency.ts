import { KsError } from '../contract/errors.js'
import type { Caller, Engine, StoredResponse } from './api.js'
import type { EngineContext } from './context.js'
import { ANSWERS_KEPT_MS } from './retention/answers.js'

/** between the fingerprint of a request and the digest of its upload; in neither of them */
const JOINT = ' '

interface Row {
  /** of the request; with the digest of its upload once it was answered */
  fingerprint: string
  instance: string
  status: number | null
  headers: string | null
  body: string | null
  created_at: number
}

/** Answers kept under the keys that clients send with writes. A key belongs to one tenant and subject. */
export function createIdempotency(context: EngineContext): Engine['idempotency'] {
  const { db, instance } = context
  const find = (caller: Caller, key: string) =>
    db.get<Row>(
      'SELECT * FROM idempotency WHERE tenant = ? AND subject = ? AND key = ?',
      ...[caller.tenant, caller.subject, key],
    )
  const remove = (caller: Caller, key: string) =>
    db.run('DELETE FROM idempotency WHERE tenant = ? AND subject = ? AND key = ?', caller.tenant, caller.subject, key)
  return {
    begin(caller, key, fingerprint): StoredResponse | undefined {
      return db.writeNow(() => {
        const now = context.now()
        const found = find(caller, key)
        // the clean-up removes it later
        const row = found !== undefined && found.created_at < now - ANSWERS_KEPT_MS ? undefined : found
        const [request, content] = row?.fingerprint.split(JOINT) ?? []
        if (row !== undefined && request !== fingerprint)
          throw new KsError('idempotency-conflict', 'this Idempotency-Key was used with another request')
        if (row?.status !== null && row?.status !== undefined)
          return {
            ...{ status: row.status, body: row.body ?? '', headers: JSON.parse(row.headers ?? '{}') },
            ...(content === undefined ? {} : { content }),
          }
        // a request of a process that died left no answer: whether it had an effect, only doing it again can tell
        if (row !== undefined && row.instance === instance)
          throw new KsError('idempotency-conflict', 'the first request with this Idempotency-Key is still running')
        db.run(
          'INSERT OR REPLACE INTO idempotency (tenant, subject, key, fingerprint, instance, created_at) VALUES (?, ?, ?, ?, ?, ?)',
          ...[caller.tenant, caller.subject, key, fingerprint, instance, now],
        )
        return undefined
      })
    },
    finish(caller, key, response) {
      db.writeNow(() =>
        db.run(
          `UPDATE idempotency SET status = ?, headers = ?, body = ?, fingerprint = fingerprint || ?
           WHERE tenant = ? AND subject = ? AND key = ?`,
          ...[response.status, JSON.stringify(response.headers), response.body],
          ...[response.content === undefined ? '' : `${JOINT}${response.content}`],
          ...[caller.tenant, caller.subject, key],
        ),
      )
    },
    abandon(caller, key) {
      db.writeNow(() => remove(caller, key))
    },
  }
}
