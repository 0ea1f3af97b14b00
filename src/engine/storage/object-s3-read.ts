import { createHash, type Hash } from 'node:crypto'
import { Readable } from 'node:stream'
import { NoSuchObject, NotWhole, type ObjectClient } from './object-s3-client.js'

/** Reads all bytes of an object; called again where the response was truncated. */
type Take<T> = (body: AsyncIterable<Buffer>, modifiedAt: number) => Promise<T>

const SHA256_DIGITS = 64

/** Reads an object. @throws NoSuchObject; like `request` */
export function readObject<T>(client: ObjectClient, key: string, take: Take<T>): Promise<T> {
  return client.ask('get', async (s3, sdk, signal, grant) => {
    const found = await s3.send(new sdk.GetObjectCommand(client.at(key)), { abortSignal: signal })
    const { Body: body, ContentLength: size, LastModified: at } = found
    if (!(body instanceof Readable)) throw new NotWhole('the response has no body')
    grant(size ?? 0)
    try {
      return await take(body, at?.getTime() ?? 0)
    } finally {
      body.destroy()
    }
  })
}

/**
 * Reads an object and checks its bytes against the hash in its key. @throws ObjectCorrupt, NoSuchObject; like `request`
 */
export function readWhole<T>(client: ObjectClient, key: string, take: Take<T>): Promise<T> {
  return readObject(client, key, async (body, modifiedAt) => {
    const hash = createHash('sha256')
    const made = await take(hashing(body, hash), modifiedAt)
    if (hash.digest('hex') !== key.slice(-SHA256_DIGITS)) throw new NotWhole('the bytes do not match the hash')
    return made
  })
}

/** Size and age of an object. @returns nothing when there is none */
export async function headOf(
  client: ObjectClient,
  key: string,
): Promise<{ size: number; modifiedAt: number } | undefined> {
  try {
    const { ContentLength: size = 0, LastModified: at } = await client.ask('head', (s3, sdk, signal) =>
      s3.send(new sdk.HeadObjectCommand(client.at(key)), { abortSignal: signal }),
    )
    return { size, modifiedAt: at?.getTime() ?? 0 }
  } catch (error) {
    if (error instanceof NoSuchObject) return undefined
    throw error
  }
}

/** Maximum number of keys in one page of S3. */
const PAGE_KEYS = 1000

/** Lists keys with a prefix after `after`, in their order. */
export async function keysBehind(
  client: ObjectClient,
  prefix: string,
  after: string,
  limit: number,
): Promise<string[]> {
  const { bucket, prefix: place } = client.place
  const found: string[] = []
  for (let last = after; found.length < limit; ) {
    const page = await client.ask('list', (s3, sdk, signal) =>
      s3.send(
        new sdk.ListObjectsV2Command({
          Bucket: bucket,
          Prefix: place + prefix,
          ...(last > prefix ? { StartAfter: place + last } : {}),
          MaxKeys: Math.min(limit - found.length, PAGE_KEYS),
        }),
        { abortSignal: signal },
      ),
    )
    const keys = (page.Contents ?? []).flatMap(({ Key: key }) =>
      key?.startsWith(place) === true ? [key.slice(place.length)] : [],
    )
    found.push(...keys.filter((key) => key > after))
    const end = keys.at(-1)
    if (page.IsTruncated !== true || end === undefined || end <= last) break
    last = end
  }
  return found.slice(0, limit)
}

async function* hashing(body: AsyncIterable<Buffer>, hash: Hash): AsyncGenerator<Buffer> {
  for await (const piece of body) {
    hash.update(piece)
    yield piece
  }
}
