import { KsError } from '../../../contract/errors.js'
import { omitUndefined } from '../../../lib/omit-undefined.js'
import type { Caller } from '../../base/caller.js'
import { bind } from '../../store/bind-operation.js'
import type { Driver } from '../../store/driver.js'
import type { Write } from '../../store/program.js'
import { parseJsonCell } from '../../store/readable.js'
import { isGatewayRegistered } from '../../store/rows/gateways.js'
import { type RemovalSlice, removeInOneWrite } from '../../store/slices.js'
import type { EngineContext } from '../context.js'
import {
  claimKey,
  FINGERPRINT_SEPARATOR,
  findIdempotencyRow,
  type IdempotencyRow,
  listKeysClaimedBefore,
  releaseKey,
  removeKey,
  storeAnswer,
} from '../rows/idempotency.js'

/** how long the answer to a write is stored under its idempotency key */
const ANSWER_LIFETIME_MS = 24 * 60 * 60 * 1000

/** interval of retries to store the outcome of a request */
const WRITE_RETRY_MS = 5000
/** after ten minutes without the database, the client's own retry finds the outcome missing */
const MAX_WRITE_RETRIES = 120

/** Answers stored under the keys that clients send with writes. A key belongs to one tenant and subject. */
export function createIdempotency(context: EngineContext) {
  const { db, instance } = context
  const keep = (caller: Caller, key: string, { headers, content, ...response }: StoredResponse) =>
    storeAnswer(caller, key, instance, { ...response, headers: JSON.stringify(headers), content })
  /** outcomes of requests while no write was possible: their effects stay, and their keys stay usable */
  const pendingWrites = new Map<string, () => Write<unknown>>()
  const storeOutcome = async (caller: Caller, key: string, write: () => Write<unknown>) => {
    try {
      await db.write(write)
    } catch (error) {
      context.log.warn(
        { error: String(error) },
        'the outcome of a request with an Idempotency-Key could not be stored yet',
      )
      pendingWrites.set(idOf(caller, key), write)
      retriesLeft = MAX_WRITE_RETRIES
      scheduleRetry()
    }
  }
  let isRetryScheduled = false
  let retriesLeft = 0
  /** other gateways consider the request running until this is written */
  const scheduleRetry = () => {
    if (isRetryScheduled) return
    isRetryScheduled = true
    setTimeout(async () => {
      isRetryScheduled = false
      for (const [id, write] of [...pendingWrites])
        await db.write(write).then(
          () => pendingWrites.get(id) === write && pendingWrites.delete(id),
          () => undefined,
        )
      if (pendingWrites.size > 0 && --retriesLeft > 0) scheduleRetry()
    }, WRITE_RETRY_MS).unref()
  }
  return {
    /**
     * Claims a key for a request. Returns the stored response when the same request was answered before.
     * @throws KsError `idempotency-conflict` for another request under the key, or while the first still runs
     */
    begin: bind(async (caller: Caller, key: string, fingerprint: string): Promise<StoredResponse | undefined> => {
      const id = idOf(caller, key)
      const pendingWrite = pendingWrites.get(id)
      const stored = await db.write(function* () {
        if (pendingWrite !== undefined) yield* pendingWrite()
        return yield* claimOrFindAnswer(caller, key, { fingerprint, instance, created_at: context.now() })
      })
      if (pendingWrites.get(id) === pendingWrite) pendingWrites.delete(id)
      return stored
    }),
    /**
     * Stores the answer, inside the transaction with the request's effect.
     * @throws KsError `idempotency-conflict` if another gateway has claimed the key: the effect must not happen twice
     */
    *keep(caller: Caller, key: string, response: StoredResponse): Write<void> {
      if (!(yield* keep(caller, key, response)))
        throw new KsError('idempotency-conflict', 'another process has claimed this Idempotency-Key')
    },
    /** Stores the answer, unless the same one is stored already. */
    finish: bind(async (caller: Caller, key: string, response: StoredResponse) => {
      const stored = await db.read(findIdempotencyRow(caller, key))
      if (stored?.status === response.status && stored.body === response.body) return
      await storeOutcome(caller, key, () => keep(caller, key, response))
    }),
    /** Releases the key, unless an answer was stored with the effect. */
    abandon: bind((caller: Caller, key: string) => storeOutcome(caller, key, () => releaseKey(caller, key, instance))),
  }
}

/** The stored answer; if there is none, the key is claimed for the request. */
function* claimOrFindAnswer(
  caller: Caller,
  key: string,
  request: Pick<IdempotencyRow, 'fingerprint' | 'instance' | 'created_at'>,
): Write<StoredResponse | undefined> {
  const found = yield* findIdempotencyRow(caller, key)
  // an expired row counts as missing; the clean-up removes it later
  const row = found !== undefined && found.created_at < request.created_at - ANSWER_LIFETIME_MS ? undefined : found
  const [fingerprint, content] = row?.fingerprint.split(FINGERPRINT_SEPARATOR) ?? []
  if (row !== undefined && fingerprint !== request.fingerprint)
    throw new KsError('idempotency-conflict', 'this Idempotency-Key was used with another request')
  if (row?.status !== null && row?.status !== undefined)
    return {
      status: row.status,
      body: row.body ?? '',
      headers: parseJsonCell<Record<string, string>>(row.headers ?? '{}'),
      ...omitUndefined({ content }),
    }
  // a lost gateway left no answer: only running the request again shows whether it had an effect
  if (row !== undefined && (row.instance === request.instance || (yield* isGatewayRegistered(row.instance))))
    throw new KsError('idempotency-conflict', 'the first request with this Idempotency-Key is still running')
  yield* claimKey(caller, key, request)
  return undefined
}

/** Removes expired answers. They belong to tenants, not to spaces. */
export async function removeExpiredAnswers(db: Driver, now: number, batchRows: number): Promise<RemovalSlice> {
  const rows = await db.read(listKeysClaimedBefore(now - ANSWER_LIFETIME_MS, batchRows))
  return removeInOneWrite(db, rows, batchRows, removeKey)
}

function idOf({ tenant, subject }: Caller, key: string): string {
  return JSON.stringify([tenant, subject, key])
}

/** A response stored under an idempotency key. */
export interface StoredResponse {
  status: number
  body: string
  headers: Record<string, string>
  /** digest of the request's upload, if it had one: the key is valid for this content only */
  content?: string
}
