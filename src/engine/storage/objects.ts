import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { KsError } from '../../contract/errors.js'
import { isObjectKey } from '../../local/file-system.js'
import type { ListedFile, StoredFile } from './object-list.js'
import type { Measured } from './object-thread.js'

/** Bytes that were received but belong to nothing yet. */
export interface StagedObject {
  /** name below `objects/tmp` */
  id: string
  sha256: string
  size: number
  /** the whole of a small object, not yet in any file */
  bytes?: Buffer
}

/** A temporary file. */
export type StagedFile = { id: string } & Omit<StoredFile, 'key' | 'isObject'>

/** A file with the bytes of an object. */
export interface LocalFile {
  path: string
  /** what it must lie in */
  root: string
}

/** Size and hash of the bytes that are there, and since when they are. */
export interface WholeObject {
  size: number
  sha256: string
  modifiedAt: number
}

/** What becomes of objects that are to be removed. */
export interface Removed {
  /** the object is not there any more, and that is durable */
  gone(key: string): void
  /** it was asked to go, and whether it went is not known: nobody may count on its bytes, nor on their room */
  inDoubt(key: string): void
}

/**
 * The bytes, content-addressed: immutable under `<tenant>/sha256/ab/<hex>`, one namespace a tenant so that nobody can tell
 * what others hold. Two adapters have the same suite: files of the data directory, and an object storage that speaks S3.
 * Uploads and removals of the same bytes agree by rows (`src/engine/objects/`), not here.
 */
export abstract class ObjectStore {
  /** The key of an object; tenants are hashed because their names are not ours to put in paths. */
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

  /** Makes what was received ready for its names; again where it got them and lost them. */
  abstract syncStaged(staged: StagedObject[]): Promise<void>

  /**
   * Gives staged objects their final names, durably. An object that is there whole is kept, a damaged one replaced.
   * What memory does not hold stays under its temporary name until it is discarded: it may have to be put again.
   *
   * @param pause waited for now and then
   */
  abstract publish(entries: { staged: StagedObject; key: string }[], pause?: () => Promise<void>): Promise<void>

  /** Whether a backup is being taken: then no object goes, for its rows may be in the copy of the database. */
  abstract isPinned(): boolean

  /** Why objects that the database does not know must stay, as far as the place of the objects tells. */
  abstract doubt(): string | undefined

  /**
   * Has objects as files of this machine for as long as `use` takes, to be read by a child process. One that is not there
   * whole is a path at which nothing lies, or other bytes.
   */
  abstract local<T>(keys: readonly string[], use: (files: LocalFile[]) => Promise<T>): Promise<T>

  /** Opens an object to be read. @throws `ENOENT` where there is none; KsError `data-damaged` for what is no key of an object */
  abstract open(key: string): Promise<FileHandle>

  /** All bytes of an object. @throws like `open`; KsError `data-damaged` where they are not those that were stored */
  abstract bytes(key: string): Promise<Buffer>

  /** Reads an object again, whole. @returns nothing when there is none */
  abstract measure(key: string): Promise<WholeObject | undefined>

  /**
   * Reads many objects again.
   *
   * @returns what became of each, in their order: nothing where there is none, or why it cannot be read
   */
  abstract measureAll(keys: readonly string[]): Promise<Measured[]>

  /** Size and age of an object. @returns nothing when there is none, or something else in its place */
  abstract describe(key: string): Promise<{ size: number; modifiedAt: number } | undefined>

  /** What stands in the place of a tenant's objects after `after`, in the order of keys; what is no object has no form of a key. */
  abstract list(tenant: string, after: string, limit: number): Promise<ListedFile[]>

  /** Sizes and times of what was listed; what is not there any more is left out. */
  abstract described(files: readonly ListedFile[]): Promise<StoredFile[]>

  /** Temporary files that are being received or were left behind, by their ids. */
  abstract listStaged(): Promise<StagedFile[]>

  /**
   * Removes objects whose rows say so. Each is asked to go in the very turn in which `isOurs` says that nobody else has
   * taken its removal over, and none while a backup is taken.
   */
  abstract remove(keys: readonly string[], isOurs: () => boolean, removed: Removed): Promise<void>

  /** How often the place of the objects was asked, and to what end; nothing where that is this machine's disk. */
  abstract requests(): readonly ObjectRequests[]

  abstract close(): void
}

/** Why an object cannot be read. @throws what says nothing of the object: its place is away */
export function unlessAway(error: unknown): { error: string } {
  if (error instanceof KsError && error.code === 'unavailable') throw error
  return { error: String(error) }
}

/** Requests of one kind to an object storage, by how they ended. */
export interface ObjectRequests {
  operation: string
  outcome: 'ok' | 'missing' | 'refused' | 'failed' | 'retried'
  count: number
}
