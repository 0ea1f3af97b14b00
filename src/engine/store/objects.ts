import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { KsError } from '../../contract/errors.js'
import { isObjectKey } from '../../local/file-system.js'
import type { ListedFile, StoredFile } from './object-list.js'
import type { ObjectMeasureResult } from './object-thread.js'

/** Bytes that were received and do not belong to an object yet. */
export interface StagedObject {
  /** name below `objects/tmp` */
  id: string
  sha256: string
  size: number
  /** all bytes of a small object, not yet in any file */
  bytes?: Buffer
}

/** A temporary file. */
export type StagedFile = { id: string } & Omit<StoredFile, 'key' | 'isObject'>

/** A file with the bytes of an object. */
export interface LocalObjectFile {
  path: string
  /** real path of the folder that contains it */
  root: string
}

/** Size and hash of the existing bytes, and their age. */
export interface ObjectMeasurement {
  size: number
  sha256: string
  modifiedAt: number
}

/** Callbacks for objects that are being removed. */
export interface ObjectRemovalCallbacks {
  /** the object no longer exists, and that is durable */
  onRemoved(key: string): void
  /** removal was requested, but its result is unknown: neither its bytes nor their space may be relied on */
  onUncertain(key: string): void
}

/**
 * Content-addressed, immutable bytes under `<tenant>/sha256/ab/<hex>`. Each tenant has a namespace, so that none can
 * detect what others store. Two adapters pass the same test suite: files of the data directory, and an S3 object
 * storage. Concurrent uploads and removals of the same bytes are coordinated by rows (`src/engine/library/objects/`), not here.
 */
export abstract class ObjectStore {
  /** The key of an object. Tenants are hashed because their names are not ours to put in paths. */
  static key(tenant: string, sha256: string): string {
    return `${ObjectStore.prefix(tenant)}sha256/${sha256.slice(0, 2)}/${sha256}`
  }

  /** Whether a text has the form of an object's key. */
  static isKey(text: string): boolean {
    return isObjectKey(text)
  }

  /** Whether a text is the key of an object of this tenant. */
  static isKeyOf(tenant: string, text: string): boolean {
    return isObjectKey(text) && text.startsWith(ObjectStore.prefix(tenant))
  }

  static prefix(tenant: string): string {
    return `${createHash('sha256').update(tenant).digest('hex').slice(0, 24)}/`
  }

  /**
   * Receives a stream on this machine.
   * @throws KsError `upload-too-large` past `limit` bytes
   */
  abstract stage(id: string, content: Readable, limit: number, name: string): Promise<StagedObject>

  abstract discard(id: string): Promise<void>

  /** Prepares received bytes for publication; also a second time, where a publication failed. */
  abstract syncStaged(staged: StagedObject[]): Promise<void>

  /**
   * Gives staged objects their final names, durably. An intact existing object is kept, a damaged one replaced. A file
   * that is not also in memory keeps its temporary name until it is discarded: it may have to be published again.
   *
   * @param pause awaited now and then
   */
  abstract publish(entries: { staged: StagedObject; key: string }[], pause?: () => Promise<void>): Promise<void>

  /** Whether a backup is running: then no object is removed, because the copy of the database may refer to it. */
  abstract isPinned(): boolean

  /** Why objects that the database does not know must be kept, as far as the location of the objects shows. */
  abstract keepUnknownReason(): string | undefined

  /**
   * Provides objects as files of this machine while `use` runs, for a child process to read. Where an object is not
   * intact, its path has no file or other bytes.
   */
  abstract local<T>(keys: readonly string[], use: (files: LocalObjectFile[]) => Promise<T>): Promise<T>

  /** Opens an object for reading. @throws `ENOENT` where there is none; KsError `data-damaged` for an invalid key */
  abstract open(key: string): Promise<FileHandle>

  /**
   * Reads all bytes of an object. @throws like `open`; KsError `data-damaged` where they differ from the stored ones
   */
  abstract bytes(key: string): Promise<Buffer>

  /** Reads an object completely again. @returns nothing when there is none */
  abstract measure(key: string): Promise<ObjectMeasurement | undefined>

  /**
   * Reads many objects again.
   *
   * @returns one result each, in their order: nothing where it is missing, or why it cannot be read
   */
  abstract measureAll(keys: readonly string[]): Promise<ObjectMeasureResult[]>

  /** Size and age of an object. @returns nothing when there is none, or its path is not a file */
  abstract describe(key: string): Promise<{ size: number; modifiedAt: number } | undefined>

  /**
   * Entries at the location of a tenant's objects after `after`, in the order of keys; names that are not objects do
   * not have the form of a key.
   */
  abstract list(tenant: string, after: string, limit: number): Promise<ListedFile[]>

  /** Sizes and times of listed entries; omits those that no longer exist. */
  abstract describeAll(files: readonly ListedFile[]): Promise<StoredFile[]>

  /** Temporary files that are being received or are leftovers, by their ids. */
  abstract listStaged(): Promise<StagedFile[]>

  /**
   * Removes objects whose rows are marked for removal. Each is requested in the same turn in which `isOurs` confirms
   * that no other process has taken over its removal, and none while a backup runs.
   */
  abstract remove(keys: readonly string[], isOurs: () => boolean, callbacks: ObjectRemovalCallbacks): Promise<void>

  /** Counts of requests to the object storage, by outcome; empty where the objects are on the disk of this machine. */
  abstract requests(): readonly ObjectRequests[]

  abstract close(): void
}

/** Why an object cannot be read. @throws an error that says nothing about the object: its storage is unavailable */
export function toReadError(error: unknown): { error: string } {
  if (error instanceof KsError && error.code === 'unavailable') throw error
  return { error: String(error) }
}

/** Requests of one operation to an object storage, with one outcome. */
export interface ObjectRequests {
  operation: string
  outcome: 'ok' | 'missing' | 'refused' | 'failed' | 'retried'
  count: number
}
