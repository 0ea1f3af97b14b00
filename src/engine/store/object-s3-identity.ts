import { newId } from '../../lib/ids.js'
import { parseRecord } from '../../lib/json/values.js'
import { formatObjectLocation } from '../../local/object-location.js'
import { StoreDamagedError } from '../../local/store-damaged-error.js'
import { NoSuchObject, type ObjectClient, ObjectExists, StorageRefused } from './object-s3-client.js'

/** A store, and how often it has been opened. */
export interface StoreOpenings {
  id: string
  opened: number
  /** whether its rows refer to objects */
  hasObjects: boolean
}

/** What is known of a location of objects. */
export interface StorageLocationState {
  /** whether the server supports `If-None-Match: *`: then existing objects need not be sent */
  ifAbsent: boolean
  /** why the database may not know all objects there */
  keepUnknownReason: string | undefined
}

/** File at the location of the objects that names their store; see `store-identity.ts` for that of a data directory. */
const STORE_FILE = 'store.json'
const PROBE = Buffer.from('whether If-None-Match is honoured\n')
const MAX_STORE_FILE_BYTES = 64 * 1024

/**
 * Checks that a location contains the objects of this store and what its server supports, and records this start there.
 *
 * @throws StoreDamagedError for the objects of another store, for an empty location while rows refer to objects, and where
 * the server refuses; KsError `unavailable` where it does not answer
 */
export async function checkStorageLocation(client: ObjectClient, store: StoreOpenings): Promise<StorageLocationState> {
  try {
    const recorded = await readStoreRecord(client)
    const name = formatObjectLocation(client.location)
    assertSameStore(client, store, recorded)
    if (recorded === undefined && store.hasObjects && (await isEmpty(client)))
      throw new StoreDamagedError(
        `the database refers to objects, but ${name} contains none: copy them there first, with their keys (docs/operations.md)`,
      )
    const keepUnknownReason =
      recorded !== undefined && recorded.opened > store.opened
        ? `the database is older than the objects in ${name}: it was opened ${store.opened} times, they were opened ${recorded.opened} times`
        : undefined
    const ifAbsent = await supportsIfNoneMatch(client)
    const opened = Math.max(store.opened, recorded?.opened ?? 0)
    await writeStoreRecord(client, { id: store.id, opened }, ifAbsent && recorded === undefined)
    return { ifAbsent, keepUnknownReason }
  } catch (error) {
    if (error instanceof StorageRefused) throw new StoreDamagedError(error.message, { cause: error })
    throw error
  }
}

function assertSameStore(client: ObjectClient, store: StoreOpenings, recorded: StoreRecord | undefined): void {
  if (recorded === undefined || recorded.id === store.id) return
  throw new StoreDamagedError(
    `${formatObjectLocation(client.location)} contains the objects of store ${recorded.id}, but the database belongs to store ${store.id}`,
  )
}

interface StoreRecord {
  id: string
  opened: number
}

async function readStoreRecord(client: ObjectClient): Promise<StoreRecord | undefined> {
  try {
    const text = await client.request('get', async (s3, sdk, signal) => {
      const command = new sdk.GetObjectCommand({
        ...client.toAddress(STORE_FILE),
        Range: `bytes=0-${MAX_STORE_FILE_BYTES - 1}`,
      })
      const { Body: body } = await s3.send(command, { abortSignal: signal })
      return (await body?.transformToString()) ?? ''
    })
    const { store: id, opened } = parseRecord(text) ?? {}
    if (typeof id === 'string' && typeof opened === 'number') return { id, opened }
  } catch (error) {
    if (error instanceof NoSuchObject) return undefined
    throw error
  }
  throw new StoreDamagedError(
    `${STORE_FILE} in ${formatObjectLocation(client.location)} must name the store of the objects, but cannot be read`,
  )
}

/** @param isNew two stores may find the same empty location */
async function writeStoreRecord(client: ObjectClient, { id, opened }: StoreRecord, isNew: boolean): Promise<void> {
  const bytes = Buffer.from(`${JSON.stringify({ store: id, opened })}\n`)
  try {
    await putSmall(client, STORE_FILE, bytes, isNew)
  } catch (error) {
    if (!(error instanceof ObjectExists)) throw error
    assertSameStore(client, { id, opened, hasObjects: false }, await readStoreRecord(client))
  }
}

async function isEmpty(client: ObjectClient): Promise<boolean> {
  const { bucket, prefix } = client.location
  const found = await client.request('list', (s3, sdk, signal) =>
    s3.send(new sdk.ListObjectsV2Command({ Bucket: bucket, Prefix: prefix, MaxKeys: 1 }), { abortSignal: signal }),
  )
  return (found.Contents ?? []).length === 0
}

/** Puts an object twice with the condition that it does not exist. */
async function supportsIfNoneMatch(client: ObjectClient): Promise<boolean> {
  const key = `probe-${newId()}`
  try {
    await putSmall(client, key, PROBE, true)
    await putSmall(client, key, PROBE, true)
    return false
  } catch (error) {
    if (error instanceof ObjectExists) return true
    // servers without support may refuse it
    if (error instanceof StorageRefused && error.status !== 403 && error.status !== 401) return false
    throw error
  } finally {
    await client
      .request('delete', (s3, sdk, signal) =>
        s3.send(new sdk.DeleteObjectCommand(client.toAddress(key)), { abortSignal: signal }),
      )
      .catch(() => {})
  }
}

async function putSmall(client: ObjectClient, key: string, bytes: Buffer, ifAbsent = false): Promise<void> {
  const condition = ifAbsent ? { IfNoneMatch: '*' } : {}
  await client.request('put', (s3, sdk, signal) =>
    s3.send(new sdk.PutObjectCommand({ ...client.toAddress(key), Body: bytes, ...condition }), { abortSignal: signal }),
  )
}
