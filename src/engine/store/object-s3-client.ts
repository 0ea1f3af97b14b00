import { setTimeout as sleep } from 'node:timers/promises'
import type * as Sdk from '@aws-sdk/client-s3'
import { KsError } from '../../contract/errors.js'
import { isRecord } from '../../lib/json/values.js'
import { backoffMs } from '../../lib/retry.js'
import { formatObjectLocation, type ObjectLocation } from '../../local/object-location.js'
import type { ObjectRequests } from './objects.js'

/** Timeouts and retries of requests to an object storage. */
export interface StorageTimeouts {
  connectMs: number
  /** idle time after which a server counts as unavailable */
  idleMs: number
  /** duration of a request, in addition to the time for its bytes at the minimum rate */
  requestMs: number
  minBytesPerSecond: number
  /** attempts of one request */
  attempts: number
  /** between two attempts; at most three and a half seconds together */
  backoff: { baseMs: number; capMs: number }
}

const DEFAULT_STORAGE_TIMEOUTS: StorageTimeouts = {
  connectMs: 3_000,
  idleMs: 10_000,
  requestMs: 15_000,
  minBytesPerSecond: 128 * 1024,
  attempts: 4,
  backoff: { baseMs: 250, capMs: 2000 },
}
const MAX_SOCKETS = 64
/** Retry-After that clients receive. */
const RETRY_AFTER_SECONDS = 5

type StorageOutcome = ObjectRequests['outcome']

export interface StorageRequestLimits {
  /** bytes of the request or of its response */
  bytes?: number
  /** instead of the default timeout */
  timeoutMs?: number
  attempts?: number
}

/** One attempt of a request, with the client and an abort signal for its deadline. */
export type StorageAttempt<T> = (
  client: Sdk.S3Client,
  sdk: typeof Sdk,
  signal: AbortSignal,
  /** restarts the deadline, with the time for this many bytes */
  grant: (bytes: number) => void,
) => Promise<T>

/** The object does not exist. */
export class NoSuchObject extends Error {
  readonly code = 'ENOENT'
}

/** A condition of the request does not hold: with `If-None-Match: *`, the object exists. */
export class ObjectExists extends Error {}

/** The caller no longer needs the result. */
export class RequestAbandoned extends Error {}

/** The received bytes do not match the hash in their name. */
export class ObjectCorrupt extends Error {}

/** The server refuses the request, and will refuse it again until its operator changes something. */
export class StorageRefused extends KsError {
  constructor(
    location: ObjectLocation,
    readonly status: number,
    reason: string,
  ) {
    super(
      'unavailable',
      `the object storage ${formatObjectLocation(location)} refused a request: ${reason} (${status})`,
    )
  }
}

/**
 * Client of an object storage, with timeouts and retries. The SDK is loaded with the first request. Credentials come
 * from the usual sources of S3 programs: the environment, the shared files, the role of the machine.
 */
export class ObjectClient {
  readonly #counts = new Map<string, ObjectRequests>()
  #loading: Promise<{ sdk: typeof Sdk; client: Sdk.S3Client }> | undefined
  readonly #open = new Set<AbortController>()
  readonly #closing = new AbortController()

  constructor(
    readonly location: ObjectLocation,
    private readonly timeouts: StorageTimeouts = DEFAULT_STORAGE_TIMEOUTS,
  ) {}

  /** Bucket and key of a request. @param key below the prefix of the location */
  toAddress(key: string): { Bucket: string; Key: string } {
    return { Bucket: this.location.bucket, Key: this.location.prefix + key }
  }

  /**
   * Sends a request, with retries.
   *
   * @param operation name under which it is counted
   * @throws NoSuchObject, ObjectExists, ObjectCorrupt, StorageRefused; KsError `unavailable` where the storage is
   * unavailable
   */
  async request<T>(operation: string, attempt: StorageAttempt<T>, limits: StorageRequestLimits = {}): Promise<T> {
    const attempts = Math.min(limits.attempts ?? this.timeouts.attempts, this.timeouts.attempts)
    for (let attemptNumber = 1; ; attemptNumber++) {
      try {
        const result = await this.#try(attempt, limits)
        this.#count(operation, 'ok')
        return result
      } catch (error) {
        const failure = this.#toKnownError(error)
        if (failure instanceof RequestAbandoned) throw failure
        const isLast = attemptNumber >= attempts || this.#closing.signal.aborted || !isRetryable(failure, attemptNumber)
        this.#count(operation, isLast ? toStorageOutcome(failure) : 'retried')
        if (isLast) throw failure instanceof StorageUnavailable ? this.#toUnavailableError(failure) : failure
        const wait = failure instanceof ObjectCorrupt ? 0 : backoffMs(attemptNumber, this.timeouts.backoff)
        await sleep(wait, undefined, { signal: this.#closing.signal }).catch(() => {})
      }
    }
  }

  requests(): readonly ObjectRequests[] {
    return [...this.#counts.values()]
  }

  close(): void {
    this.#closing.abort()
    for (const request of this.#open) request.abort()
    this.#loading?.then(({ client }) => client.destroy()).catch(() => {})
  }

  async #try<T>(attempt: StorageAttempt<T>, { bytes = 0, timeoutMs }: StorageRequestLimits): Promise<T> {
    const { sdk, client } = await this.#load()
    const deadline = new AbortController()
    this.#open.add(deadline)
    let timer: NodeJS.Timeout | undefined
    const restartDeadline = (expectedBytes: number) => {
      clearTimeout(timer)
      const { requestMs, minBytesPerSecond } = this.timeouts
      timer = setTimeout(() => deadline.abort(), timeoutMs ?? requestMs + (expectedBytes / minBytesPerSecond) * 1000)
    }
    try {
      // the SDK may wait for the end of a body that is not read
      const timeout = new Promise<never>((_, reject) => {
        deadline.signal.addEventListener('abort', () => reject(new StorageUnavailable('no answer in time')), {
          once: true,
        })
      })
      restartDeadline(bytes)
      const result = attempt(client, sdk, deadline.signal, restartDeadline)
      result.catch(() => {})
      return await Promise.race([result, timeout])
    } finally {
      clearTimeout(timer)
      this.#open.delete(deadline)
    }
  }

  #load() {
    this.#loading ??= createS3Client(this.location, this.timeouts)
    return this.#loading
  }

  #count(operation: string, outcome: StorageOutcome): void {
    const name = `${operation} ${outcome}`
    const counted = this.#counts.get(name) ?? { operation, outcome, count: 0 }
    counted.count++
    this.#counts.set(name, counted)
  }

  /** Converts an error of the SDK, whose text may contain requests and addresses. */
  #toKnownError(error: unknown): Error {
    if (error instanceof KsError || isStorageError(error)) return error
    const name = error instanceof Error ? error.name : 'Error'
    const status = getHttpStatus(error)
    // errors of the system about files of this machine
    if (status === undefined && isRecord(error) && typeof error.path === 'string' && error instanceof Error)
      return error
    if (status === 412) return new ObjectExists('the object exists')
    if (status === 404 && name !== 'NoSuchBucket') return new NoSuchObject('the object does not exist')
    if (name === 'CredentialsProviderError')
      return new StorageRefused(this.location, 401, 'no credentials found in the environment or in files')
    if (
      status === undefined ||
      (status >= 500 && status !== 501) ||
      TRANSIENT_STATUSES.has(status) ||
      TRANSIENT_ERRORS.has(name)
    )
      return new StorageUnavailable(status === undefined ? getErrorName(error) : `${name} (${status})`)
    return new StorageRefused(this.location, status, name)
  }

  #toUnavailableError({ message }: StorageUnavailable): KsError {
    return new KsError(
      'unavailable',
      `the object storage ${formatObjectLocation(this.location)} does not answer: ${message}`,
      {
        retryAfter: RETRY_AFTER_SECONDS,
      },
    )
  }
}

class StorageUnavailable extends Error {}

/** Error names that S3 sends with a status for client errors, but that are transient. */
const TRANSIENT_ERRORS = new Set([
  'RequestTimeout',
  'SlowDown',
  'RequestTimeTooSkewed',
  'BadDigest',
  'XAmzContentSHA256Mismatch',
])
const TRANSIENT_STATUSES = new Set([408, 409, 429])

function isStorageError(error: unknown): error is Error {
  return [StorageUnavailable, RequestAbandoned, NoSuchObject, ObjectExists, ObjectCorrupt, StorageRefused].some(
    (kind) => error instanceof kind,
  )
}

/** Corrupt bytes are read once more: they may have been damaged in transit. */
function isRetryable(error: Error, attemptNumber: number): boolean {
  return error instanceof StorageUnavailable || (error instanceof ObjectCorrupt && attemptNumber === 1)
}

function toStorageOutcome(error: Error): StorageOutcome {
  if (error instanceof NoSuchObject) return 'missing'
  return error instanceof StorageRefused || error instanceof ObjectExists ? 'refused' : 'failed'
}

/** The HTTP status of an error of the SDK. */
export function getHttpStatus(error: unknown): number | undefined {
  const metadata = isRecord(error) ? error.$metadata : undefined
  return isRecord(metadata) && typeof metadata.httpStatusCode === 'number' ? metadata.httpStatusCode : undefined
}

function getErrorName(error: unknown): string {
  if (isRecord(error) && typeof error.code === 'string') return error.code
  return error instanceof Error ? error.name : 'an error'
}

export async function loadS3Sdk(): Promise<typeof Sdk> {
  // the operator chooses the version of Node; no warning on the terminal
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true'
  return await import('@aws-sdk/client-s3')
}

async function createS3Client({ region, endpoint }: ObjectLocation, { connectMs, idleMs }: StorageTimeouts) {
  const sdk = await loadS3Sdk()
  const client = new sdk.S3Client({
    region,
    ...(endpoint === undefined ? {} : { endpoint, forcePathStyle: true }),
    requestHandler: {
      connectionTimeout: connectMs,
      socketTimeout: idleMs,
      httpAgent: { keepAlive: true, maxSockets: MAX_SOCKETS },
      httpsAgent: { keepAlive: true, maxSockets: MAX_SOCKETS },
    },
    // this class retries; the SDK makes only one attempt when it sends a file
    maxAttempts: 1,
    disableS3ExpressSessionAuth: true,
    disableMultiregionAccessPoints: true,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    userAgentAppId: 'knowledge-spaces',
    logger: { debug() {}, info() {}, warn() {}, error() {} },
  })
  client.middlewareStack.add(createBodySigner(), { step: 'build', priority: 'low', name: 'ksSignedBody' })
  return { sdk, client }
}

interface BuildArguments {
  request: unknown
}

/**
 * Signs a body whose checksum is known together with its request: then also a server without support for checksums
 * refuses bytes that were changed in transit.
 */
function createBodySigner() {
  return <A extends BuildArguments, R>(next: (args: A) => Promise<R>) =>
    (args: A): Promise<R> => {
      const headers = isRecord(args.request) ? args.request.headers : undefined
      const checksum = isRecord(headers) ? headers['x-amz-checksum-sha256'] : undefined
      if (isRecord(headers) && typeof checksum === 'string')
        headers['x-amz-content-sha256'] = Buffer.from(checksum, 'base64').toString('hex')
      return next(args)
    }
}
