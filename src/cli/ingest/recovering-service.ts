import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '../../client/client.js'
import { ApiError, ConnectionError } from '../../client/errors.js'
import { CliError } from '../cli-error.js'
import { formatDuration } from '../units.js'

/** The calls of an ingest. Each may be repeated. */
export type IngestService = Pick<Client, 'request' | 'upload'>

export interface RecoveryOptions {
  client: Client
  /** Opens a client of the current service; a restarted local daemon may have another address and token. */
  reconnect: (options: { autostart: boolean }) => Promise<Client>
  /** Name of the service for messages. */
  name: string
  /** Whether a restart renews the token in use. */
  isTokenRenewed: boolean
  signal: AbortSignal
  note: (text: string) => void
  /** Clock in milliseconds, for tests. */
  now?: () => number
  /** Wait between two attempts, for tests. */
  pause?: (milliseconds: number) => Promise<void>
}

/** An upload broke off, and the service answers again. It may have taken the files. */
export class ServiceRecoveredError extends Error {}

/** A start after a crash first recovers the database. */
const MAX_OUTAGE_MS = 120_000
/** An operator who restarts the daemon starts it with settings of their own, so that comes first. */
const AUTOSTART_DELAY_MS = 5_000
const ATTEMPT_INTERVAL_MS = 250
/** Outages after which a call counts as their cause. */
export const MAX_OUTAGES_PER_CALL = 5

/** A service that may restart: waits until it answers again, for a limited time, and repeats the calls that broke off. */
export class RecoveringService implements IngestService {
  readonly #options: RecoveryOptions
  #client: Client
  #recovery: Promise<void> | undefined

  constructor(options: RecoveryOptions) {
    this.#options = options
    this.#client = options.client
  }

  request: IngestService['request'] = async (key, input) => {
    for (let outages = 0; ; outages++) {
      const client = this.#client
      try {
        return await client.request(key, { ...input, signal: this.#options.signal })
      } catch (error) {
        if (outages === MAX_OUTAGES_PER_CALL || !(this.#isOutage(error) || isUnavailable(error))) throw error
        await this.#recover(client, error)
      }
    }
  }

  /** @throws ServiceRecoveredError after an outage: the caller finds out what the service has taken */
  upload: IngestService['upload'] = async (key, input, onBytes) => {
    const client = this.#client
    try {
      return await client.upload(key, input, onBytes)
    } catch (error) {
      if (!this.#isOutage(error)) throw error
      await this.#recover(client, error)
      throw new ServiceRecoveredError('an upload broke off', { cause: error })
    }
  }

  #isOutage(error: unknown): boolean {
    if (error instanceof ConnectionError) return error.code === 'unreachable'
    return this.#options.isTokenRenewed && error instanceof ApiError && error.status === 401
  }

  /** Waits for the service once for all calls that the same outage broke. */
  async #recover(client: Client, cause: unknown): Promise<void> {
    if (this.#client !== client) return
    this.#recovery ??= this.#waitForService(cause).finally(() => {
      this.#recovery = undefined
    })
    await this.#recovery
  }

  async #waitForService(cause: unknown): Promise<void> {
    const { name, note, signal, reconnect, now = Date.now } = this.#options
    const { pause = (milliseconds) => sleep(milliseconds, undefined, { signal }) } = this.#options
    const startedAt = now()
    signal.throwIfAborted()
    note(`ks: ${name} does not answer: waiting up to ${formatDuration(MAX_OUTAGE_MS)} for it`)
    for (;;) {
      await pause(ATTEMPT_INTERVAL_MS)
      try {
        const client = await reconnect({ autostart: now() - startedAt > AUTOSTART_DELAY_MS })
        await client.request('GET /health', {})
        this.#client = client
        note(`ks: ${name} answers again: continuing`)
        return
      } catch (error) {
        if (!this.#isOutage(error) && !isUnavailable(error)) throw error
        if (now() - startedAt > MAX_OUTAGE_MS)
          throw new ConnectionError('timeout', `${name} has not answered for ${formatDuration(MAX_OUTAGE_MS)}`, {
            cause,
          })
      }
    }
  }
}

/** Whether the error is that of a service that stops or starts, or of the proxy in front of it. */
function isUnavailable(error: unknown): boolean {
  if (error instanceof CliError) return error.code === 'unreachable'
  if (error instanceof ConnectionError) return true
  return error instanceof ApiError && [502, 503, 504].includes(error.status) && error.code !== 'storage-full'
}
