import { createHash } from 'node:crypto'
import { type FileHandle, open, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import pLimit from 'p-limit'
import { KsError } from '../../contract/errors.js'
import { isObjectKey } from '../../local/file-system.js'
import { formatObjectLocation, type ObjectLocation } from '../../local/object-location.js'
import { StoreDamagedError } from '../../local/store-damaged-error.js'
import type { EngineLog } from '../base/log.js'
import { assertObjectKey, damagedObjectError, OBJECT_MODE } from './durable-files.js'
import { ObjectCache } from './object-cache.js'
import type { ListedFile, StoredFile } from './object-list.js'
import {
  NoSuchObject,
  ObjectClient,
  ObjectCorrupt,
  ObjectExists,
  RequestAbandoned,
  type StorageTimeouts,
} from './object-s3-client.js'
import { checkStorageLocation, type StorageLocationState, type StoreOpenings } from './object-s3-identity.js'
import { abortAbandonedUploads, isMultipart, putObject } from './object-s3-put.js'
import { headObject, listKeysAfter, readObject, readVerifiedObject } from './object-s3-read.js'
import { Staging } from './object-staging.js'
import type { ObjectMeasureResult } from './object-thread.js'
import {
  type LocalObjectFile,
  type ObjectMeasurement,
  type ObjectRemovalCallbacks,
  type ObjectRequests,
  ObjectStore,
  type StagedFile,
  type StagedObject,
  toReadError,
} from './objects.js'

/** Concurrent requests of one call. */
const MAX_CONCURRENT_REQUESTS = 16
/** A removal without a response by then is uncertain; another process takes it over later (`REMOVAL_TIMEOUT_MS`). */
const REMOVE_TIMEOUT_MS = 5_000
/** An unavailable storage must not delay a start for longer. */
const START_CHECK_TIMEOUT_MS = 8_000
const MAX_CACHE_BYTES = 1024 ** 3

export interface S3Options {
  location: ObjectLocation
  /** folder of this machine for uploads and fetched objects */
  folder: string
  store: StoreOpenings
  log: EngineLog
  /** called with the reason why the database may not know all objects there */
  onKeepUnknown(reason: string): void
  /** maximum size of fetched objects on this machine; default one gibibyte */
  cacheBytes?: number
  /** timeouts and retries of requests */
  timeouts?: StorageTimeouts
}

/** Objects in a bucket of an S3 server, under `<prefix><key>`, with a bounded cache of the objects in use. */
export class S3Objects extends ObjectStore {
  #locationState: StorageLocationState | undefined
  #checking: Promise<StorageLocationState> | undefined

  private constructor(
    private readonly options: S3Options,
    private readonly client: ObjectClient,
    private readonly staging: Staging,
    private readonly cache: ObjectCache,
  ) {
    super()
  }

  /**
   * Opens the store. If the storage is unavailable, the location is checked with the first request that succeeds; until
   * then no object is removed.
   * @throws StoreDamagedError for a location of another store, or one that refuses access
   */
  static async open(options: S3Options): Promise<S3Objects> {
    const staging = await Staging.open(join(options.folder, 'tmp'))
    const cache = await ObjectCache.open(join(options.folder, 'cache'), options.cacheBytes ?? MAX_CACHE_BYTES)
    const store = new S3Objects(options, new ObjectClient(options.location, options.timeouts), staging, cache)
    try {
      const timeout = sleep(START_CHECK_TIMEOUT_MS, undefined, { ref: false }).then(() => {
        throw new KsError('unavailable', `${formatObjectLocation(options.location)} does not answer`)
      })
      await Promise.race([store.#getLocationState(), timeout])
    } catch (error) {
      if (error instanceof StoreDamagedError || !(error instanceof KsError)) {
        store.close()
        throw error
      }
      options.log.error(
        { error: error.message },
        'the object storage is unavailable; operations that need it have to wait',
      )
    }
    return store
  }

  stage(id: string, content: Readable, limit: number, name: string): Promise<StagedObject> {
    return this.staging.receive(id, content, limit, name)
  }

  discard(id: string): Promise<void> {
    return this.staging.discard(id)
  }

  /** Nothing to sync on this machine: the object is durable when the storage has it. */
  async syncStaged(): Promise<void> {}

  async publish(entries: { staged: StagedObject; key: string }[], pause?: () => Promise<void>): Promise<void> {
    const { ifAbsent } = await this.#getLocationState()
    for (let start = 0; start < entries.length; start += MAX_CONCURRENT_REQUESTS) {
      if (start > 0) await pause?.()
      const puts = entries.slice(start, start + MAX_CONCURRENT_REQUESTS).map((entry) => this.#put(entry, ifAbsent))
      // a discard after a failure must not overtake an upload that is still running
      await Promise.allSettled(puts)
      await Promise.all(puts)
    }
  }

  async #put({ staged, key }: { staged: StagedObject; key: string }, ifAbsent: boolean): Promise<void> {
    const { sha256, size, bytes, id } = staged
    const put = { key, sha256, size, content: bytes ?? { path: this.staging.path(id) } }
    const isLarge = isMultipart(size)
    const isPut = !isLarge && ifAbsent && (await this.#putIfAbsent(put))
    // a large object is looked up before it is sent needlessly
    const mayExist = isLarge ? (await this.describe(key))?.size === size : ifAbsent
    // an existing object may be damaged: sending a document again repairs it
    if (!isPut && !(mayExist && (await this.measure(key))?.sha256 === sha256)) await putObject(this.client, put)
    await this.cache.add(key, bytes ?? this.staging.path(id))
  }

  async #putIfAbsent(put: Parameters<typeof putObject>[1]): Promise<boolean> {
    try {
      await putObject(this.client, { ...put, ifAbsent: true })
      return true
    } catch (error) {
      if (error instanceof ObjectExists) return false
      throw error
    }
  }

  isPinned(): boolean {
    return false
  }

  keepUnknownReason(): string | undefined {
    return this.#locationState === undefined
      ? 'the object storage has not been checked yet'
      : this.#locationState.keepUnknownReason
  }

  async local<T>(keys: readonly string[], use: (files: LocalObjectFile[]) => Promise<T>): Promise<T> {
    const limit = pLimit(MAX_CONCURRENT_REQUESTS)
    const leases = keys.map((key) => limit(() => this.#acquire(key)))
    const acquired = (await Promise.allSettled(leases)).flatMap((lease) =>
      lease.status === 'fulfilled' ? [lease.value] : [],
    )
    try {
      const files = (await Promise.all(leases)).map(({ path }) => ({ path, root: this.cache.root }))
      return await use(files)
    } finally {
      for (const lease of acquired) lease.release()
    }
  }

  async open(key: string): Promise<FileHandle> {
    const acquired = await this.#acquire(key)
    try {
      return await open(acquired.path, 'r')
    } finally {
      acquired.release()
    }
  }

  async bytes(key: string): Promise<Buffer> {
    await this.#assertUsable(key)
    try {
      return await readVerifiedObject(this.client, key, async (body) => {
        const chunks: Buffer[] = []
        for await (const chunk of body) chunks.push(chunk)
        return Buffer.concat(chunks)
      })
    } catch (error) {
      throw error instanceof ObjectCorrupt ? damagedObjectError() : error
    }
  }

  async measure(key: string): Promise<ObjectMeasurement | undefined> {
    await this.#assertUsable(key)
    try {
      return await readObject(this.client, key, async (body, modifiedAt) => {
        const hash = createHash('sha256')
        let size = 0
        for await (const chunk of body) {
          hash.update(chunk)
          size += chunk.length
        }
        return { size, sha256: hash.digest('hex'), modifiedAt }
      })
    } catch (error) {
      if (error instanceof NoSuchObject) return undefined
      throw error
    }
  }

  /**
   * Fails completely where the storage is unavailable, since that says nothing about objects. @throws KsError
   * `unavailable`
   */
  async measureAll(keys: readonly string[]): Promise<ObjectMeasureResult[]> {
    const limit = pLimit(MAX_CONCURRENT_REQUESTS)
    return await Promise.all(keys.map((key) => limit(() => this.measure(key).catch(toReadError))))
  }

  async describe(key: string): Promise<{ size: number; modifiedAt: number } | undefined> {
    await this.#assertUsable(key)
    return await headObject(this.client, key)
  }

  async list(tenant: string, after: string, limit: number): Promise<ListedFile[]> {
    await this.#getLocationState()
    const keys = await listKeysAfter(this.client, ObjectStore.prefix(tenant), after, limit)
    return keys.map((key) => ({ key, isObject: isObjectKey(key) }))
  }

  async describeAll(files: readonly ListedFile[]): Promise<StoredFile[]> {
    const limit = pLimit(MAX_CONCURRENT_REQUESTS)
    const described = await Promise.all(
      files.map(({ key, isObject }) =>
        limit(async (): Promise<StoredFile[]> => {
          // a foreign name is not an object key; only its name matters
          const at = isObject ? await this.describe(key) : { size: 0, modifiedAt: 0 }
          return at === undefined ? [] : [{ key, isObject, ...at, changedAt: at.modifiedAt }]
        }),
      ),
    )
    return described.flat()
  }

  listStaged(): Promise<StagedFile[]> {
    return this.staging.list()
  }

  async remove(keys: readonly string[], isOurs: () => boolean, callbacks: ObjectRemovalCallbacks): Promise<void> {
    await this.#getLocationState()
    const limit = pLimit(MAX_CONCURRENT_REQUESTS)
    const ended = await Promise.allSettled(keys.map((key) => limit(() => this.#remove(key, isOurs, callbacks))))
    for (const result of ended) if (result.status === 'rejected') throw result.reason
  }

  async #remove(key: string, isOurs: () => boolean, { onRemoved, onUncertain }: ObjectRemovalCallbacks): Promise<void> {
    await this.#assertUsable(key)
    let isRequested = false
    try {
      await this.client.request(
        'delete',
        async (s3, sdk, signal) => {
          // checked at each attempt: a delayed request could remove bytes that were uploaded meanwhile
          if (!isOurs()) throw new RequestAbandoned()
          isRequested = true
          await s3.send(new sdk.DeleteObjectCommand(this.client.toAddress(key)), { abortSignal: signal })
        },
        { timeoutMs: REMOVE_TIMEOUT_MS, attempts: 2 },
      )
    } catch (error) {
      if (!(error instanceof NoSuchObject)) {
        if (isRequested) onUncertain(key)
        if (error instanceof RequestAbandoned) return
        throw error
      }
    }
    this.cache.evict(key)
    onRemoved(key)
  }

  requests(): readonly ObjectRequests[] {
    return this.client.requests()
  }

  close(): void {
    this.client.close()
  }

  async #acquire(key: string) {
    await this.#assertUsable(key)
    return await this.cache.acquire(key, async (path) => {
      try {
        await readVerifiedObject(this.client, key, async (body) => {
          // left by an earlier attempt
          await rm(path, { force: true })
          await writeFile(path, body, { mode: OBJECT_MODE })
        })
        return true
      } catch (error) {
        if (error instanceof ObjectCorrupt || error instanceof NoSuchObject) return false
        throw error
      }
    })
  }

  async #assertUsable(key: string): Promise<void> {
    assertObjectKey(key)
    await this.#getLocationState()
  }

  /**
   * State of the location, which is checked with the first request that succeeds. @throws like `checkStorageLocation`
   */
  async #getLocationState(): Promise<StorageLocationState> {
    if (this.#locationState !== undefined) return this.#locationState
    this.#checking ??= this.#checkLocation().finally(() => {
      this.#checking = undefined
    })
    return await this.#checking
  }

  async #checkLocation(): Promise<StorageLocationState> {
    const { store, onKeepUnknown, log } = this.options
    const known = await checkStorageLocation(this.client, store)
    if (known.keepUnknownReason !== undefined) onKeepUnknown(known.keepUnknownReason)
    this.#locationState = known
    abortAbandonedUploads(this.client, Date.now()).catch((error: unknown) =>
      log.warn({ error: String(error) }, 'abandoned multipart uploads could not be aborted'),
    )
    return known
  }
}
