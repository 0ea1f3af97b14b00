import { chmodSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DeleteObjectCommand, ListObjectsV2Command, PutObjectCommand } from '@aws-sdk/client-s3'
import { vi } from 'vitest'
import { FileObjects } from '../../../src/engine/store/object-files.js'
import { S3Objects, type S3Options } from '../../../src/engine/store/object-s3.js'
import type { ObjectStore } from '../../../src/engine/store/objects.js'
import type { ObjectLocation } from '../../../src/local/object-location.js'
import { startS3 } from '../../helpers/places/s3.js'
import { startStrictS3 } from '../../helpers/places/strict-s3.js'

/** Direct access to the objects of a store, bypassing the store. */
export interface Backing {
  open(): Promise<ObjectStore>
  /** Replaces the bytes of an object. */
  damage(key: string, bytes: Buffer): Promise<void>
  lose(key: string): Promise<void>
  /** Keys of all entries except the store file. */
  keys(): Promise<string[]>
  /** Maximal number of keys per listing, where paging is not supported. */
  page?: number
  end(): Promise<void>
}

export async function inFiles(folder: string): Promise<Backing> {
  const put = (key: string, bytes: Buffer) => {
    mkdirSync(join(folder, key, '..'), { recursive: true })
    rmSync(join(folder, key), { force: true })
    writeFileSync(join(folder, key), bytes)
    chmodSync(join(folder, key), 0o440)
  }
  return {
    open: () => FileObjects.open(folder),
    damage: async (key, bytes) => put(key, bytes),
    lose: async (key) => rmSync(join(folder, key)),
    keys: async () =>
      readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && !entry.parentPath.endsWith('tmp'))
        .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
        .sort(),
    end: async () => {},
  }
}

/** Opens the objects of a bucket; the cache is empty unless a test sets its size. */
export function openBucket(
  folder: string,
  place: ObjectLocation,
  changes: Partial<S3Options> = {},
): Promise<S3Objects> {
  const log = { debug() {}, info() {}, warn() {}, error() {} }
  const store = { id: 'the-store', opened: 1, hasObjects: false }
  return S3Objects.open({ location: place, folder, store, log, onKeepUnknown() {}, cacheBytes: 0, ...changes })
}

/** Sets the credentials in the environment until the end of the test. */
export function withKeys(env: Record<string, string>): void {
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value)
}

/** @param conditions whether the server honours `If-None-Match` */
export async function inStrictBucket(folder: string, conditions: boolean): Promise<Backing> {
  const server = await startStrictS3({ supportsConditions: conditions })
  withKeys(server.env)
  const opened: ObjectStore[] = []
  const { prefix } = server.place
  return {
    async open() {
      const store = await openBucket(folder, server.place)
      opened.push(store)
      return store
    },
    damage: async (key, bytes) =>
      void server.objects.set(prefix + key, { bytes, etag: '"other"', sha256: undefined, modified: new Date() }),
    lose: async (key) => void server.objects.delete(prefix + key),
    keys: async () => objectsAmong([...server.objects.keys()], prefix),
    async end() {
      for (const store of opened) store.close()
      await server.end()
    },
  }
}

export async function inS3rver(folder: string): Promise<Backing> {
  const server = await startS3()
  withKeys({ AWS_ACCESS_KEY_ID: 'S3RVER', AWS_SECRET_ACCESS_KEY: 'S3RVER' })
  const place = { bucket: 'docs', prefix: 'ks/', region: 'us-east-1', endpoint: server.endpoint }
  const opened: ObjectStore[] = []
  const at = (key: string) => ({ Bucket: 'docs', Key: place.prefix + key })
  return {
    async open() {
      const store = await openBucket(folder, place)
      opened.push(store)
      return store
    },
    damage: async (key, bytes) => void (await server.client.send(new PutObjectCommand({ ...at(key), Body: bytes }))),
    lose: async (key) => void (await server.client.send(new DeleteObjectCommand(at(key)))),
    async keys() {
      const list = new ListObjectsV2Command({ Bucket: 'docs', Prefix: place.prefix })
      const { Contents: found = [] } = await server.client.send(list)
      return objectsAmong(
        found.map(({ Key: key = '' }) => key),
        place.prefix,
      )
    },
    // The continuation token needs a cipher that Node no longer has.
    page: 1000,
    async end() {
      for (const store of opened) store.close()
      await server.end()
    },
  }
}

function objectsAmong(keys: string[], prefix: string): string[] {
  return keys
    .map((key) => key.slice(prefix.length))
    .filter((key) => key !== 'store.json')
    .sort()
}
