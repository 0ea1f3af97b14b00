import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import type { CompleteMultipartUploadCommandInput } from '@aws-sdk/client-s3'
import { NoSuchObject, type ObjectClient, Refused } from './object-s3-client.js'

/** Larger objects are uploaded in parts, each of which can be retried. */
const WHOLE_BYTES = 64 * 1024 ** 2
const PART_BYTES = 16 * 1024 ** 2
const MOST_PARTS = 10_000
/** Multipart uploads older than this belong to a process that died. */
const ABANDONED_MS = 24 * 3_600_000

/** Bytes to upload: in memory, or a file of this machine. */
export interface Putting {
  key: string
  sha256: string
  size: number
  content: Buffer | { path: string }
  /** refuse where the object exists; only for servers that support it */
  ifAbsent?: boolean
}

/** Whether an object is uploaded in parts. */
export function goesInParts(size: number): boolean {
  return size > WHOLE_BYTES
}

/**
 * Uploads an object, which is durable when this resolves. Its checksum is sent along, and the server refuses other
 * bytes. @throws ObjectExists; like `request`
 */
export async function putObject(client: ObjectClient, putting: Putting): Promise<void> {
  if (goesInParts(putting.size) && !Buffer.isBuffer(putting.content)) {
    await putParts(client, putting, putting.content.path)
    return
  }
  const { key, sha256, size, content, ifAbsent } = putting
  await client.ask(
    'put',
    async (s3, sdk, signal) => {
      const body = Buffer.isBuffer(content) ? content : createReadStream(content.path)
      try {
        await s3.send(
          new sdk.PutObjectCommand({
            ...client.at(key),
            Body: body,
            ContentLength: size,
            ContentType: 'application/octet-stream',
            ChecksumSHA256: Buffer.from(sha256, 'hex').toString('base64'),
            ...(ifAbsent === true ? { IfNoneMatch: '*' } : {}),
          }),
          { abortSignal: signal },
        )
      } finally {
        if (!Buffer.isBuffer(body)) body.destroy()
      }
    },
    { bytes: size },
  )
}

async function putParts(client: ObjectClient, { key, size }: Putting, path: string): Promise<void> {
  const at = client.at(key)
  const upload = await client.ask('create-upload', (s3, sdk, signal) =>
    s3.send(new sdk.CreateMultipartUploadCommand({ ...at, ChecksumAlgorithm: 'SHA256' }), { abortSignal: signal }),
  )
  const { UploadId: id } = upload
  if (id === undefined) throw new Refused(client.place, 200, 'a multipart upload without an id')
  const file = await open(path, 'r')
  try {
    const parts: { PartNumber: number; ETag: string; ChecksumSHA256: string }[] = []
    const each = Math.max(PART_BYTES, Math.ceil(size / MOST_PARTS))
    for (let from = 0; from < size; from += each)
      parts.push(await putPart(client, at, id, parts.length + 1, await read(file, from, Math.min(each, size - from))))
    await complete(client, { ...at, UploadId: id, MultipartUpload: { Parts: parts } }, size)
  } catch (error) {
    // leftover parts cost space; an upload that cannot be aborted now is aborted at a later start
    await abort(client, at, id).catch(() => {})
    throw error
  } finally {
    await file.close()
  }
}

async function complete(client: ObjectClient, input: CompleteMultipartUploadCommandInput, size: number): Promise<void> {
  try {
    await client.ask(
      'complete-upload',
      (s3, sdk, signal) => s3.send(new sdk.CompleteMultipartUploadCommand(input), { abortSignal: signal }),
      // the server assembles the parts
      { bytes: size },
    )
  } catch (error) {
    if (!(error instanceof NoSuchObject)) throw error
    // an earlier attempt completed it, and its response was lost
    const { ContentLength: there } = await client.ask('head', (s3, sdk, signal) =>
      s3.send(new sdk.HeadObjectCommand({ Bucket: input.Bucket, Key: input.Key }), { abortSignal: signal }),
    )
    if (there !== size) throw new Refused(client.place, 404, 'NoSuchUpload')
  }
}

async function putPart(
  client: ObjectClient,
  at: { Bucket: string; Key: string },
  id: string,
  part: number,
  body: Buffer,
) {
  const checksum = createHash('sha256').update(body).digest('base64')
  const { ETag: tag } = await client.ask(
    'put-part',
    (s3, sdk, signal) =>
      s3.send(
        new sdk.UploadPartCommand({
          ...at,
          UploadId: id,
          PartNumber: part,
          Body: body,
          ContentLength: body.length,
          ChecksumSHA256: checksum,
        }),
        { abortSignal: signal },
      ),
    { bytes: body.length },
  )
  return { PartNumber: part, ETag: tag ?? '', ChecksumSHA256: checksum }
}

async function read(file: FileHandle, from: number, length: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafeSlow(length)
  for (let filled = 0; filled < length; ) {
    const { bytesRead } = await file.read(bytes, filled, length - filled, from + filled)
    if (bytesRead === 0) throw new Error('a temporary file was truncated while it was sent')
    filled += bytesRead
  }
  return bytes
}

function abort(client: ObjectClient, at: { Bucket: string; Key: string }, id: string): Promise<unknown> {
  return client.ask('abort-upload', (s3, sdk, signal) =>
    s3.send(new sdk.AbortMultipartUploadCommand({ ...at, UploadId: id }), { abortSignal: signal }),
  )
}

/** Aborts multipart uploads of processes that died. @returns their count */
export async function abortAbandoned(client: ObjectClient, now: number): Promise<number> {
  const { bucket, prefix } = client.place
  const { Uploads: uploads = [] } = await client.ask('list-uploads', (s3, sdk, signal) =>
    s3.send(new sdk.ListMultipartUploadsCommand({ Bucket: bucket, Prefix: prefix }), { abortSignal: signal }),
  )
  let aborted = 0
  for (const { Key: key, UploadId: id, Initiated: at } of uploads) {
    if (key === undefined || id === undefined || at === undefined || now - at.getTime() < ABANDONED_MS) continue
    await abort(client, { Bucket: bucket, Key: key }, id)
    aborted++
  }
  return aborted
}
