import { createHash, type Hash } from 'node:crypto'
import { Readable } from 'node:stream'
import { NoSuchObject, type ObjectClient, ObjectCorrupt } from './object-s3-client.js'

/** Reads all bytes of an object; called again where the response was truncated. */
type ObjectBodyReader<T> = (body: AsyncIterable<Buffer>, modifiedAt: number) => Promise<T>

const SHA256_DIGITS = 64

/** Reads an object. @throws NoSuchObject; like `request` */
export function readObject<T>(client: ObjectClient, key: string, readBody: ObjectBodyReader<T>): Promise<T> {
  return client.request('get', async (s3, sdk, signal, grant) => {
    const found = await s3.send(new sdk.GetObjectCommand(client.toAddress(key)), { abortSignal: signal })
    const { Body: body, ContentLength: size, LastModified: lastModified } = found
    if (!(body instanceof Readable)) throw new ObjectCorrupt('the response has no body')
    grant(size ?? 0)
    try {
      return await readBody(body, lastModified?.getTime() ?? 0)
    } finally {
      body.destroy()
    }
  })
}

/**
 * Reads an object and checks its bytes against the hash in its key. @throws ObjectCorrupt, NoSuchObject; like `request`
 */
export function readVerifiedObject<T>(client: ObjectClient, key: string, readBody: ObjectBodyReader<T>): Promise<T> {
  return readObject(client, key, async (body, modifiedAt) => {
    const hash = createHash('sha256')
    const result = await readBody(hashChunks(body, hash), modifiedAt)
    if (hash.digest('hex') !== key.slice(-SHA256_DIGITS)) throw new ObjectCorrupt('the bytes do not match the hash')
    return result
  })
}

/** Size and age of an object. @returns nothing when there is none */
export async function headObject(
  client: ObjectClient,
  key: string,
): Promise<{ size: number; modifiedAt: number } | undefined> {
  try {
    const { ContentLength: size = 0, LastModified: lastModified } = await client.request('head', (s3, sdk, signal) =>
      s3.send(new sdk.HeadObjectCommand(client.toAddress(key)), { abortSignal: signal }),
    )
    return { size, modifiedAt: lastModified?.getTime() ?? 0 }
  } catch (error) {
    if (error instanceof NoSuchObject) return undefined
    throw error
  }
}

/** Maximum number of keys in one page of S3. */
const MAX_PAGE_KEYS = 1000

/** Lists keys with a prefix after `after`, in their order. */
export async function listKeysAfter(
  client: ObjectClient,
  prefix: string,
  after: string,
  limit: number,
): Promise<string[]> {
  const { bucket, prefix: locationPrefix } = client.location
  const found: string[] = []
  for (let last = after; found.length < limit; ) {
    const page = await client.request('list', (s3, sdk, signal) =>
      s3.send(
        new sdk.ListObjectsV2Command({
          Bucket: bucket,
          Prefix: locationPrefix + prefix,
          ...(last > prefix ? { StartAfter: locationPrefix + last } : {}),
          MaxKeys: Math.min(limit - found.length, MAX_PAGE_KEYS),
        }),
        { abortSignal: signal },
      ),
    )
    const keys = (page.Contents ?? []).flatMap(({ Key: key }) =>
      key?.startsWith(locationPrefix) === true ? [key.slice(locationPrefix.length)] : [],
    )
    found.push(...keys.filter((key) => key > after))
    const end = keys.at(-1)
    if (page.IsTruncated !== true || end === undefined || end <= last) break
    last = end
  }
  return found.slice(0, limit)
}

/** The chunks, which are added to a hash. */
export async function* hashChunks<T extends Uint8Array>(chunks: AsyncIterable<T>, hash: Hash): AsyncGenerator<T> {
  for await (const chunk of chunks) {
    hash.update(chunk)
    yield chunk
  }
}
