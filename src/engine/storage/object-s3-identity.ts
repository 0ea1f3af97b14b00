import { newId } from '../../lib/ids.js'
import { recordIn } from '../../lib/json/values.js'
import { placeText } from '../../local/object-place.js'
import { StoreRefused } from '../../local/store-refused.js'
import { IsThere, NoSuchObject, type ObjectClient, Refused } from './object-s3-client.js'

/** A store, and how often it has been opened. */
export interface StoreOpened {
  id: string
  opened: number
  /** whether its rows refer to objects */
  hasObjects: boolean
}

/** What is known of a location of objects. */
export interface KnownPlace {
  /** whether the server supports `If-None-Match: *`: then existing objects need not be sent */
  ifAbsent: boolean
  /** why the database may not know all objects there */
  doubt: string | undefined
}

/** File at the location of the objects that names their store; see `store-identity.ts` for that of a data directory. */
const STORE = 'store.json'
const PROBE = Buffer.from('whether If-None-Match is honoured\n')
const MOST_BYTES = 64 * 1024

/**
 * Checks that a location contains the objects of this store and what its server supports, and records this start there.
 *
 * @throws StoreRefused for the objects of another store, for an empty location while rows refer to objects, and where
 * the server refuses; KsError `unavailable` where it does not answer
 */
export async function meetPlace(client: ObjectClient, store: StoreOpened): Promise<KnownPlace> {
  try {
    const known = await readStore(client)
    const name = placeText(client.place)
    assertOurs(client, store, known)
    if (known === undefined && store.hasObjects && (await isEmpty(client)))
      throw new StoreRefused(
        `the database refers to objects, but ${name} contains none: copy them there first, with their keys (docs/operations.md)`,
      )
    const doubt =
      known !== undefined && known.opened > store.opened
        ? `the database is older than the objects in ${name}: it was opened ${store.opened} times, they were opened ${known.opened} times`
        : undefined
    const ifAbsent = await honoursIfAbsent(client)
    const opened = Math.max(store.opened, known?.opened ?? 0)
    await writeStore(client, { id: store.id, opened }, ifAbsent && known === undefined)
    return { ifAbsent, doubt }
  } catch (error) {
    if (error instanceof Refused) throw new StoreRefused(error.message, { cause: error })
    throw error
  }
}

function assertOurs(client: ObjectClient, store: StoreOpened, known: Known | undefined): void {
  if (known === undefined || known.id === store.id) return
  throw new StoreRefused(
    `${placeText(client.place)} contains the objects of store ${known.id}, but the database belongs to store ${store.id}`,
  )
}

interface Known {
  id: string
  opened: number
}

async function readStore(client: ObjectClient): Promise<Known | undefined> {
  try {
    const text = await client.ask('get', async (s3, sdk, signal) => {
      const command = new sdk.GetObjectCommand({ ...client.at(STORE), Range: `bytes=0-${MOST_BYTES - 1}` })
      const { Body: body } = await s3.send(command, { abortSignal: signal })
      return (await body?.transformToString()) ?? ''
    })
    const { store: id, opened } = recordIn(text) ?? {}
    if (typeof id === 'string' && typeof opened === 'number') return { id, opened }
  } catch (error) {
    if (error instanceof NoSuchObject) return undefined
    throw error
  }
  throw new StoreRefused(
    `${STORE} in ${placeText(client.place)} must name the store of the objects, but cannot be read`,
  )
}

/** @param isNew two stores may find the same empty location */
async function writeStore(client: ObjectClient, { id, opened }: Known, isNew: boolean): Promise<void> {
  const bytes = Buffer.from(`${JSON.stringify({ store: id, opened })}\n`)
  try {
    await putSmall(client, STORE, bytes, isNew)
  } catch (error) {
    if (!(error instanceof IsThere)) throw error
    assertOurs(client, { id, opened, hasObjects: false }, await readStore(client))
  }
}

async function isEmpty(client: ObjectClient): Promise<boolean> {
  const { bucket, prefix } = client.place
  const found = await client.ask('list', (s3, sdk, signal) =>
    s3.send(new sdk.ListObjectsV2Command({ Bucket: bucket, Prefix: prefix, MaxKeys: 1 }), { abortSignal: signal }),
  )
  return (found.Contents ?? []).length === 0
}

/** Puts an object twice with the condition that it does not exist. */
async function honoursIfAbsent(client: ObjectClient): Promise<boolean> {
  const key = `probe-${newId()}`
  try {
    await putSmall(client, key, PROBE, true)
    await putSmall(client, key, PROBE, true)
    return false
  } catch (error) {
    if (error instanceof IsThere) return true
    // servers without support may refuse it
    if (error instanceof Refused && error.status !== 403 && error.status !== 401) return false
    throw error
  } finally {
    await client
      .ask('delete', (s3, sdk, signal) => s3.send(new sdk.DeleteObjectCommand(client.at(key)), { abortSignal: signal }))
      .catch(() => {})
  }
}

async function putSmall(client: ObjectClient, key: string, bytes: Buffer, ifAbsent = false): Promise<void> {
  const condition = ifAbsent ? { IfNoneMatch: '*' } : {}
  await client.ask('put', (s3, sdk, signal) =>
    s3.send(new sdk.PutObjectCommand({ ...client.at(key), Body: bytes, ...condition }), { abortSignal: signal }),
  )
}
