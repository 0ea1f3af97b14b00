import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import type { CompleteMultipartUploadCommandInput } from '@aws-sdk/client-s3'
import { NoSuchObject, type ObjectClient, StorageRefused } from './object-s3-client.js'

/** Larger objects are uploaded in parts, each of which can be retried. */
const MAX_SINGLE_PUT_BYTES = 64 * 1024 ** 2
const PART_BYTES = 16 * 1024 ** 2
const MAX_PARTS = 10_000
/** Multipart uploads older than this belong to a process that died. */
const ABANDONED_MS = 24 * 3_600_000

/** Bytes to upload: in memory, or a file of this machine. */
export interface ObjectPut {
  key: string
  sha256: string
  size: number
  content: Buffer | { path: string }
  /** refuse where the object exists; only for servers that support it */
  ifAbsent?: boolean
}

/** Whether an object is uploaded in parts. */
export function isMultipart(size: number): boolean {
  return size > MAX_SINGLE_PUT_BYTES
}

/**
 * Uploads an object, which is durable when this resolves. Its checksum is sent along, and the server refuses other
 * bytes. @throws ObjectExists; like `request`
 */
export async function putObject(client: ObjectClient, put: ObjectPut): Promise<void> {
  if (isMultipart(put.size) && !Buffer.isBuffer(put.content)) {
    await putParts(client, put, put.content.path)
    return
  }
  const { key, sha256, size, content, ifAbsent } = put
  await client.request(
    'put',
    async (s3, sdk, signal) => {
      const body = Buffer.isBuffer(content) ? content : createReadStream(content.path)
      try {
        await s3.send(
          new sdk.PutObjectCommand({
            ...client.toAddress(key),
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

async function putParts(client: ObjectClient, { key, size }: ObjectPut, path: string): Promise<void> {
  const address = client.toAddress(key)
  const upload = await client.request('create-upload', (s3, sdk, signal) =>
    s3.send(new sdk.CreateMultipartUploadCommand({ ...address, ChecksumAlgorithm: 'SHA256' }), { abortSignal: signal }),
  )
  const { UploadId: id } = upload
  if (id === undefined) throw new StorageRefused(client.location, 200, 'a multipart upload without an id')
  const file = await open(path, 'r')
  try {
    const parts: { PartNumber: number; ETag: string; ChecksumSHA256: string }[] = []
    const partBytes = Math.max(PART_BYTES, Math.ceil(size / MAX_PARTS))
    for (let start = 0; start < size; start += partBytes)
      parts.push(
        await putPart(
          client,
          { ...address, UploadId: id, PartNumber: parts.length + 1 },
          await readRange(file, start, Math.min(partBytes, size - start)),
        ),
      )
    await completeUpload(client, { ...address, UploadId: id, MultipartUpload: { Parts: parts } }, size)
  } catch (error) {
    // leftover parts cost space; an upload that cannot be aborted now is aborted at a later start
    await abortUpload(client, address, id).catch(() => {})
    throw error
  } finally {
    await file.close()
  }
}

async function completeUpload(
  client: ObjectClient,
  input: CompleteMultipartUploadCommandInput,
  size: number,
): Promise<void> {
  try {
    await client.request(
      'complete-upload',
      (s3, sdk, signal) => s3.send(new sdk.CompleteMultipartUploadCommand(input), { abortSignal: signal }),
      // the server assembles the parts
      { bytes: size },
    )
  } catch (error) {
    if (!(error instanceof NoSuchObject)) throw error
    // an earlier attempt completed it, and its response was lost
    const { ContentLength: storedSize } = await client.request('head', (s3, sdk, signal) =>
      s3.send(new sdk.HeadObjectCommand({ Bucket: input.Bucket, Key: input.Key }), { abortSignal: signal }),
    )
    if (storedSize !== size) throw new StorageRefused(client.location, 404, 'NoSuchUpload')
  }
}

async function putPart(
  client: ObjectClient,
  part: { Bucket: string; Key: string; UploadId: string; PartNumber: number },
  body: Buffer,
) {
  const checksum = createHash('sha256').update(body).digest('base64')
  const { ETag: tag } = await client.request(
    'put-part',
    (s3, sdk, signal) =>
      s3.send(
        new sdk.UploadPartCommand({ ...part, Body: body, ContentLength: body.length, ChecksumSHA256: checksum }),
        { abortSignal: signal },
      ),
    { bytes: body.length },
  )
  return { PartNumber: part.PartNumber, ETag: tag ?? '', ChecksumSHA256: checksum }
}

async function readRange(file: FileHandle, start: number, length: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafeSlow(length)
  for (let filled = 0; filled < length; ) {
    const { bytesRead } = await file.read(bytes, filled, length - filled, start + filled)
    if (bytesRead === 0) throw new Error('a temporary file was truncated while it was sent')
    filled += bytesRead
  }
  return bytes
}

function abortUpload(client: ObjectClient, address: { Bucket: string; Key: string }, id: string): Promise<unknown> {
  return client.request('abort-upload', (s3, sdk, signal) =>
    s3.send(new sdk.AbortMultipartUploadCommand({ ...address, UploadId: id }), { abortSignal: signal }),
  )
}

/** Aborts multipart uploads of processes that died. @returns their count */
export async function abortAbandonedUploads(client: ObjectClient, now: number): Promise<number> {
  const { bucket, prefix } = client.location
  const { Uploads: uploads = [] } = await client.request('list-uploads', (s3, sdk, signal) =>
    s3.send(new sdk.ListMultipartUploadsCommand({ Bucket: bucket, Prefix: prefix }), { abortSignal: signal }),
  )
  let aborted = 0
  for (const { Key: key, UploadId: id, Initiated: startedAt } of uploads) {
    if (key === undefined || id === undefined || startedAt === undefined || now - startedAt.getTime() < ABANDONED_MS)
      continue
    await abortUpload(client, { Bucket: bucket, Key: key }, id)
    aborted++
  }
  return aborted
}
