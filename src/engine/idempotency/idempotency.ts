import { KsError } from '../../contract/errors.js'
import { defined } from '../../lib/defined.js'
import type { Caller } from '../base/caller.js'
import type { EngineContext } from '../context.js'
import type { Database } from '../storage/database.js'
import { sql } from '../storage/program.js'
import { fromCell } from '../storage/readable.js'
import { inOneWrite, type Slice } from '../storage/slices.js'

/** how long the answer to a write is kept under its idempotency key */
const ANSWERS_KEPT_MS = 24 * 60 * 60 * 1000
/** between the fingerprint of a request and the digest of its upload; in neither of them */
const JOINT = ' '

/** Answers kept under the keys that clients send with writes. A key belongs to one tenant and subject. */
export interface Idempotency {
  /**
   * Claims a key for a request. Returns the stored response when the same request was answered before.
   * @throws KsError `idempotency-conflict` for another request under the key, or while the first still runs
   */
  begin(caller: Caller, key: string, fingerprint: string): StoredResponse | undefined
  /** Keeps the answer inside the caller's transaction. */
  keep(caller: Caller, key: string, response: StoredResponse): void
  /** Keeps the answer, where it is not the one that is kept already. */
  finish(caller: Caller, key: string, response: StoredResponse): void
  /** Gives the key back, unless an answer was kept with the effect: the request had none. */
  abandon(caller: Caller, key: string): void
}

interface Row {
  /** of the request; with the digest of its upload once it was answered */
  fingerprint: string
  instance: string
  status: number | null
  headers: string | null
  body: string | null
  created_at: number
}

export function createIdempotency(context: EngineContext): Idempotency {
  const { db, instance } = context
  function* find(caller: Caller, key: string) {
    return yield* sql.get<Row>('SELECT * FROM idempotency WHERE tenant = ? AND subject = ? AND key = ?', [
      caller.tenant,
      caller.subject,
      key,
    ])
  }
  /** what was kept with its effect stays */
  function* remove(caller: Caller, key: string) {
    return yield* sql.run('DELETE FROM idempotency WHERE tenant = ? AND subject = ? AND key = ? AND status IS NULL', [
      caller.tenant,
      caller.subject,
      key,
    ])
  }
  const keep = (caller: Caller, key: string, { status, headers, body, content }: StoredResponse) =>
    db.now(
      sql.run(
        `UPDATE idempotency SET status = ?, headers = ?, body = ?,
         fingerprint = fingerprint || iif(instr(fingerprint, '${JOINT}') = 0, ?, '')
       WHERE tenant = ? AND subject = ? AND key = ?`,
        [
          status,
          JSON.stringify(headers),
          body,
          content === undefined ? '' : `${JOINT}${content}`,
          caller.tenant,
          caller.subject,
          key,
        ],
      ),
    )
  /** how requests ended while nothing could be written: what was done stays done, and its key stays usable */
  const unwritten = new Map<string, () => void>()
  const end = (caller: Caller, key: string, write: () => void) => {
    try {
      db.writeNow(write)
    } catch (error) {
      context.log.warn({ error: String(error) }, 'the end of a request with an Idempotency-Key could not be stored yet')
      unwritten.set(idOf(caller, key), write)
    }
  }
  return {
    begin(caller, key, fingerprint): StoredResponse | undefined {
      const id = idOf(caller, key)
      const kept = db.writeNow(function* () {
        unwritten.get(id)?.()
        const now = context.now()
        const found = yield* find(caller, key)
        // the clean-up removes it later
        const row = found !== undefined && found.created_at < now - ANSWERS_KEPT_MS ? undefined : found
        const [request, content] = row?.fingerprint.split(JOINT) ?? []
        if (row !== undefined && request !== fingerprint)
          throw new KsError('idempotency-conflict', 'this Idempotency-Key was used with another request')
        if (row?.status !== null && row?.status !== undefined)
          return {
            status: row.status,
            body: row.body ?? '',
            headers: fromCell<Record<string, string>>(row.headers ?? '{}'),
            ...defined({ content }),
          }
        // a request of a process that died left no answer: whether it had an effect, only doing it again can tell
        if (row !== undefined && row.instance === instance)
          throw new KsError('idempotency-conflict', 'the first request with this Idempotency-Key is still running')
        yield* sql.run(
          'INSERT OR REPLACE INTO idempotency (tenant, subject, key, fingerprint, instance, created_at) VALUES (?, ?, ?, ?, ?, ?)',
          [caller.tenant, caller.subject, key, fingerprint, instance, now],
        )
        return undefined
      })
      unwritten.delete(id)
      return kept
    },
    keep,
    finish(caller, key, response) {
      const kept = db.now(find(caller, key))
      if (kept?.status === response.status && kept.body === response.body) return
      end(caller, key, () => keep(caller, key, response))
    },
    abandon(caller, key) {
      end(caller, key, () => db.now(remove(caller, key)))
    },
  }
}

/** Removes answers that were kept long enough. They belong to tenants, not to spaces. */
export async function forgetAnswers(db: Database, now: number, batchRows: number): Promise<Slice> {
  const rows = db.now(
    sql.all<{ tenant: string; subject: string; key: string }>(
      'SELECT tenant, subject, key FROM idempotency WHERE created_at < ? ORDER BY created_at LIMIT ?',
      [now - ANSWERS_KEPT_MS, batchRows],
    ),
  )
  return inOneWrite(db, rows, batchRows, ({ tenant, subject, key }) =>
    db.now(sql.run('DELETE FROM idempotency WHERE tenant = ? AND subject = ? AND key = ?', [tenant, subject, key])),
  )
}

function idOf({ tenant, subject }: Caller, key: string): string {
  return JSON.stringify([tenant, subject, key])
}

/** A response kept under an idempotency key. */
export interface StoredResponse {
  status: number
  body: string
  headers: Record<string, string>
  /** what the request's upload held, where it had one: the key is for this content only */
  content?: string
}
