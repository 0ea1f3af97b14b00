import { createHash } from 'node:crypto'
import { type FileHandle, open, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import pLimit from 'p-limit'
import { KsError } from '../../contract/errors.js'
import { isObjectKey } from '../../local/file-system.js'
import { type ObjectPlace, placeText } from '../../local/object-place.js'
import { StoreRefused } from '../../local/store-refused.js'
import type { EngineLog } from '../base/log.js'
import { damagedObject, OBJECT_MODE } from './durable-files.js'
import { ObjectCache } from './object-cache.js'
import type { ListedFile, StoredFile } from './object-list.js'
import { GaveUp, IsThere, NoSuchObject, NotWhole, ObjectClient, type Patience } from './object-s3-client.js'
import { type KnownPlace, meetPlace, type StoreOpened } from './object-s3-identity.js'
import { abortAbandoned, goesInParts, putObject } from './object-s3-put.js'
import { headOf, keysBehind, readObject, readWhole } from './object-s3-read.js'
import { Staging } from './object-staging.js'
import type { Measured } from './object-thread.js'
import {
  type LocalFile,
  type ObjectRequests,
  ObjectStore,
  type Removed,
  type StagedFile,
  type StagedObject,
  unlessAway,
  type WholeObject,
} from './objects.js'

/** Concurrent requests of one call. */
const AT_ONCE = 16
/** A removal without a response by then is uncertain; another process takes it over later (`DEAD_REMOVAL_MS`). */
const REMOVE_WITHIN_MS = 5_000
/** An unavailable storage must not delay a start for longer. */
const MEET_WITHIN_MS = 8_000
const CACHE_BYTES = 1024 ** 3

export interface S3Options {
  place: ObjectPlace
  /** folder of this machine for uploads and fetched objects */
  folder: string
  store: StoreOpened
  log: EngineLog
  /** called with the reason why the database may not know all objects there */
  onDoubt(why: string): void
  /** maximum size of fetched objects on this machine; default one gibibyte */
  cacheBytes?: number
  /** timeouts and retries of requests */
  patience?: Patience
}

/** Objects in a bucket of an S3 server, under `<prefix><key>`, with a bounded cache of the objects in use. */
export class S3Objects extends ObjectStore {
  #known: KnownPlace | undefined
  #meeting: Promise<KnownPlace> | undefined

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
   * @throws StoreRefused for a location of another store, or one that refuses access
   */
  static async open(options: S3Options): Promise<S3Objects> {
    const staging = await Staging.open(join(options.folder, 'tmp'))
    const cache = await ObjectCache.open(join(options.folder, 'cache'), options.cacheBytes ?? CACHE_BYTES)
    const store = new S3Objects(options, new ObjectClient(options.place, options.patience), staging, cache)
    try {
      const late = sleep(MEET_WITHIN_MS, undefined, { ref: false }).then(() => {
        throw new KsError('unavailable', `${placeText(options.place)} does not answer`)
      })
      await Promise.race([store.#met(), late])
    } catch (error) {
      if (error instanceof StoreRefused || !(error instanceof KsError)) {
        store.close()
        throw error
      }
      options.log.error({ error: error.message }, 'the object storage is unavailable; operations that need it have to wait')
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
    const { ifAbsent } = await this.#met()
    for (let from = 0; from < entries.length; from += AT_ONCE) {
      if (from > 0) await pause?.()
      const some = entries.slice(from, from + AT_ONCE).map((entry) => this.#put(entry, ifAbsent))
      // a discard after a failure must not overtake an upload that is still running
      await Promise.allSettled(some)
      await Promise.all(some)
    }
  }

  async #put({ staged, key }: { staged: StagedObject; key: string }, ifAbsent: boolean): Promise<void> {
    const { sha256, size, bytes, id } = staged
    const putting = { key, sha256, size, content: bytes ?? { path: this.staging.path(id) } }
    const isLarge = goesInParts(size)
    const isPut = !isLarge && ifAbsent && (await this.#wasAbsent(putting))
    // a large object is looked up before it is sent needlessly
    const mayBeThere = isLarge ? (await this.describe(key))?.size === size : ifAbsent
    // an existing object may be damaged: sending a document again repairs it
    if (!isPut && !(mayBeThere && (await this.measure(key))?.sha256 === sha256)) await putObject(this.client, putting)
    await this.cache.offer(key, bytes ?? this.staging.path(id))
  }

  async #wasAbsent(putting: Parameters<typeof putObject>[1]): Promise<boolean> {
    try {
      await putObject(this.client, { ...putting, ifAbsent: true })
      return true
    } catch (error) {
      if (error instanceof IsThere) return false
      throw error
    }
  }

  isPinned(): boolean {
    return false
  }

  doubt(): string | undefined {
    return this.#known === undefined ? 'the object storage has not been checked yet' : this.#known.doubt
  }

  async local<T>(keys: readonly string[], use: (files: LocalFile[]) => Promise<T>): Promise<T> {
    const limit = pLimit(AT_ONCE)
    const asked = keys.map((key) => limit(() => this.#hold(key)))
    const held = (await Promise.allSettled(asked)).flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    try {
      const files = (await Promise.all(asked)).map(({ path }) => ({ path, root: this.cache.root }))
      return await use(files)
    } finally {
      for (const one of held) one.release()
    }
  }

  async open(key: string): Promise<FileHandle> {
    const held = await this.#hold(key)
    try {
      return await open(held.path, 'r')
    } finally {
      held.release()
    }
  }

  async bytes(key: string): Promise<Buffer> {
    await this.#mayAsk(key)
    try {
      return await readWhole(this.client, key, async (body) => {
        const pieces: Buffer[] = []
        for await (const piece of body) pieces.push(piece)
        return Buffer.concat(pieces)
      })
    } catch (error) {
      throw error instanceof NotWhole ? damagedObject() : error
    }
  }

  async measure(key: string): Promise<WholeObject | undefined> {
    await this.#mayAsk(key)
    try {
      return await readObject(this.client, key, async (body, modifiedAt) => {
        const hash = createHash('sha256')
        let size = 0
        for await (const piece of body) {
          hash.update(piece)
          size += piece.length
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
  async measureAll(keys: readonly string[]): Promise<Measured[]> {
    const limit = pLimit(AT_ONCE)
    const one = async (key: string): Promise<Measured> => {
      try {
        return await this.measure(key)
      } catch (error) {
        return unlessAway(error)
      }
    }
    return await Promise.all(keys.map((key) => limit(one, key)))
  }

  async describe(key: string): Promise<{ size: number; modifiedAt: number } | undefined> {
    await this.#mayAsk(key)
    return await headOf(this.client, key)
  }

  async list(tenant: string, after: string, limit: number): Promise<ListedFile[]> {
    await this.#met()
    const keys = await keysBehind(this.client, ObjectStore.prefix(tenant), after, limit)
    return keys.map((key) => ({ key, isObject: isObjectKey(key) }))
  }

  async described(files: readonly ListedFile[]): Promise<StoredFile[]> {
    const limit = pLimit(AT_ONCE)
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

  async remove(keys: readonly string[], isOurs: () => boolean, removed: Removed): Promise<void> {
    await this.#met()
    const limit = pLimit(AT_ONCE)
    const ended = await Promise.allSettled(keys.map((key) => limit(() => this.#remove(key, isOurs, removed))))
    for (const one of ended) if (one.status === 'rejected') throw one.reason
  }

  async #remove(key: string, isOurs: () => boolean, { gone, inDoubt }: Removed): Promise<void> {
    await this.#mayAsk(key)
    let isAsked = false
    try {
      await this.client.ask(
        'delete',
        async (s3, sdk, signal) => {
          // checked at each attempt: a delayed request could remove bytes that were uploaded meanwhile
          if (!isOurs()) throw new GaveUp()
          isAsked = true
          await s3.send(new sdk.DeleteObjectCommand(this.client.at(key)), { abortSignal: signal })
        },
        { withinMs: REMOVE_WITHIN_MS, attempts: 2 },
      )
    } catch (error) {
      if (!(error instanceof NoSuchObject)) {
        if (isAsked) inDoubt(key)
        if (error instanceof GaveUp) return
        throw error
      }
    }
    this.cache.forget(key)
    gone(key)
  }

  requests(): readonly ObjectRequests[] {
    return this.client.requests()
  }

  close(): void {
    this.client.close()
  }

  async #hold(key: string) {
    await this.#mayAsk(key)
    return await this.cache.hold(key, async (path) => {
      try {
        await readWhole(this.client, key, async (body) => {
          // left by an earlier attempt
          await rm(path, { force: true })
          await writeFile(path, body, { mode: OBJECT_MODE })
        })
        return true
      } catch (error) {
        if (error instanceof NotWhole || error instanceof NoSuchObject) return false
        throw error
      }
    })
  }

  async #mayAsk(key: string): Promise<void> {
    if (!isObjectKey(key))
      throw new KsError(
        'data-damaged',
        'a stored object key is malformed; `ks fsck` lists its row',
      )
    await this.#met()
  }

  /**
   * State of the location, which is checked with the first request that succeeds. @throws like `checkStorageLocation`
   */
  async #met(): Promise<KnownPlace> {
    if (this.#known !== undefined) return this.#known
    this.#meeting ??= this.#meet().finally(() => {
      this.#meeting = undefined
    })
    return await this.#meeting
  }

  async #meet(): Promise<KnownPlace> {
    const { store, onDoubt, log } = this.options
    const known = await meetPlace(this.client, store)
    if (known.doubt !== undefined) onDoubt(known.doubt)
    this.#known = known
    abortAbandoned(this.client, Date.now()).catch((error: unknown) =>
      log.warn({ error: String(error) }, 'abandoned multipart uploads could not be aborted'),
    )
    return known
  }
}
