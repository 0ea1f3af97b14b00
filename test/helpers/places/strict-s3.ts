import { createHash, createHmac, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** A fault instead of the right response. */
export type Fault =
  | { status: number; code?: string }
  /** closes the connection, before or after the request takes effect */
  | 'drop'
  | 'drop-after'
  /** never responds */
  | 'hang'
  /** sends half of the bytes, then closes the connection */
  | 'truncate'
  /** sends other bytes than those stored */
  | 'corrupt'
  /** sends a byte now and then */
  | 'drip'

export interface StrictRequest {
  method: string
  key: string
  query: URLSearchParams
  headers: IncomingMessage['headers']
}

interface StoredObject {
  bytes: Buffer
  etag: string
  sha256: string | undefined
  modified: Date
}

export interface StrictOptions {
  bucket?: string
  accessKeyId?: string
  secretAccessKey?: string
  /** whether it supports `If-None-Match: *`; many servers silently ignore it */
  supportsConditions?: boolean
}

/**
 * A server that speaks the part of S3 for objects, and enforces what other servers ignore: signatures with the hash of
 * the body, checksums, `If-None-Match`. A test can make it fail.
 */
export async function startStrictS3(options: StrictOptions = {}) {
  const { bucket = 'objects', accessKeyId = 'STRICT', secretAccessKey = 'strict/secret+key' } = options
  const objects = new Map<string, StoredObject>()
  const uploads = new Map<string, { key: string; parts: Map<number, StoredObject>; at: Date }>()
  const requests: string[] = []
  const state = {
    bucket,
    accessKeyId,
    secretAccessKey,
    objects,
    uploads,
    /** method, key and status of each request */
    requests,
    conditions: options.supportsConditions ?? true,
    /** decides for each request whether it fails */
    fault: (_request: StrictRequest): Fault | undefined => undefined,
    /** awaited before a request takes effect */
    before: async (_request: StrictRequest): Promise<void> => {},
  }
  const server = createServer(async (incoming, response) => {
    const url = new URL(incoming.url ?? '/', 'http://strict')
    const [, bucketInPath = '', ...rest] = url.pathname.split('/')
    const key = decodeURIComponent(rest.join('/'))
    const request = { method: incoming.method ?? '', key, query: url.searchParams, headers: incoming.headers }
    const note = `${request.method} ${key}`
    const fault = state.fault(request)
    if (fault === 'hang') return
    if (fault === 'drop') return void incoming.socket.destroy()
    const chunks: Buffer[] = []
    try {
      for await (const chunk of incoming) chunks.push(chunk)
    } catch {
      return
    }
    if (typeof fault === 'object') return refuse(response, fault.status, fault.code ?? 'ServiceUnavailable')
    const body = Buffer.concat(chunks)
    const refusal = findRefusal(incoming, url, body, state)
    if (refusal !== undefined) {
      requests.push(`${note} ${refusal.code}`)
      return refuse(response, refusal.status, refusal.code)
    }
    if (bucketInPath !== bucket) return refuse(response, 404, 'NoSuchBucket')
    await state.before(request)
    const answer = execute(state, request, body)
    requests.push(`${note} ${answer.code ?? answer.status}`)
    if (fault === 'drop-after') return void incoming.socket.destroy()
    if (answer.code !== undefined) return refuse(response, answer.status, answer.code, request.method === 'HEAD')
    await send(response, answer, fault)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // A listening socket has an address of this type.
  const { port } = server.address() as AddressInfo
  const place = { bucket, prefix: 'ks/', region: 'us-east-1', endpoint: `http://127.0.0.1:${port}` }
  return Object.assign(state, {
    place,
    address: `s3://${bucket}/ks?endpoint=http://127.0.0.1:${port}`,
    env: { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey },
    async end() {
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  })
}

export type StrictS3 = Awaited<ReturnType<typeof startStrictS3>>

interface S3Response {
  status: number
  /** error code; absent for success */
  code?: string
  headers?: Record<string, string>
  body?: Buffer | string
}

type State = Pick<StrictS3, 'objects' | 'uploads' | 'conditions' | 'bucket'>

function execute(state: State, request: StrictRequest, body: Buffer): S3Response {
  const { method, key, query } = request
  if (key === '') return query.has('uploads') ? listUploads(state) : list(state, query)
  const uploadId = query.get('uploadId')
  if (method === 'POST' || (uploadId !== null && method !== 'GET')) return multipart(state, request, body)
  const stored = state.objects.get(key)
  if (method === 'PUT') {
    if (state.conditions && request.headers['if-none-match'] === '*' && stored !== undefined)
      return { status: 412, code: 'PreconditionFailed' }
    const put = toStored(body, request)
    state.objects.set(key, put)
    return { status: 200, headers: { etag: put.etag } }
  }
  if (method === 'DELETE') {
    state.objects.delete(key)
    return { status: 204 }
  }
  if (stored === undefined) return { status: 404, code: method === 'HEAD' ? 'NotFound' : 'NoSuchKey' }
  const headers = { etag: stored.etag, 'last-modified': stored.modified.toUTCString() }
  return method === 'HEAD'
    ? { status: 200, headers: { ...headers, 'content-length': String(stored.bytes.length) } }
    : { status: 200, headers, body: stored.bytes }
}

function toStored(bytes: Buffer, { headers }: StrictRequest): StoredObject {
  const checksum = headers['x-amz-checksum-sha256']
  const etag = `"${createHash('md5').update(bytes).digest('hex')}"`
  return { bytes, etag, sha256: typeof checksum === 'string' ? checksum : undefined, modified: new Date() }
}

function multipart(state: State, request: StrictRequest, body: Buffer): S3Response {
  const { method, key, query } = request
  const id = query.get('uploadId') ?? ''
  if (method === 'POST' && query.has('uploads')) {
    const fresh = randomUUID()
    state.uploads.set(fresh, { key, parts: new Map(), at: new Date() })
    return xml('InitiateMultipartUploadResult', `<Key>${key}</Key><UploadId>${fresh}</UploadId>`)
  }
  const upload = state.uploads.get(id)
  if (upload === undefined || upload.key !== key) return { status: 404, code: 'NoSuchUpload' }
  if (method === 'PUT') {
    const part = toStored(body, request)
    if (part.sha256 === undefined) return { status: 400, code: 'InvalidRequest' }
    upload.parts.set(Number(query.get('partNumber')), part)
    return { status: 200, headers: { etag: part.etag, 'x-amz-checksum-sha256': part.sha256 } }
  }
  state.uploads.delete(id)
  if (method === 'DELETE') return { status: 204 }
  const bucketInPath = [...body.toString().matchAll(/<PartNumber>(\d+)<\/PartNumber>/g)].map((match) =>
    Number(match[1]),
  )
  const parts = bucketInPath.map((number) => upload.parts.get(number)?.bytes)
  const isComplete =
    bucketInPath.every((number, place) => number === place + 1) && bucketInPath.length === upload.parts.size
  if (!isComplete || parts.includes(undefined)) return { status: 400, code: 'InvalidPart' }
  state.objects.set(key, toStored(Buffer.concat(parts.map((part) => part ?? Buffer.alloc(0))), request))
  return xml('CompleteMultipartUploadResult', `<Key>${key}</Key>`)
}

function listUploads({ uploads }: State): S3Response {
  const each = [...uploads].map(
    ([id, { key, at }]) =>
      `<Upload><Key>${key}</Key><UploadId>${id}</UploadId><Initiated>${at.toISOString()}</Initiated></Upload>`,
  )
  return xml('ListMultipartUploadsResult', each.join(''))
}

function list({ objects }: State, query: URLSearchParams): S3Response {
  const prefix = query.get('prefix') ?? ''
  const after = query.get('start-after') ?? ''
  const maxKeys = Number(query.get('max-keys') ?? 1000)
  const keys = [...objects.keys()].filter((key) => key.startsWith(prefix) && key > after).sort()
  const page = keys.slice(0, maxKeys)
  const each = page.map((key) => `<Contents><Key>${key}</Key><Size>${objects.get(key)?.bytes.length}</Size></Contents>`)
  return xml('ListBucketResult', `<IsTruncated>${keys.length > maxKeys}</IsTruncated>${each.join('')}`)
}

function xml(name: string, inside: string): S3Response {
  const body = `<?xml version="1.0"?><${name}>${inside}</${name}>`
  return { status: 200, headers: { 'content-type': 'application/xml' }, body }
}

function refuse(response: ServerResponse, status: number, code: string, isHead = false): void {
  const body = `<?xml version="1.0"?><Error><Code>${code}</Code><Message>${code}</Message></Error>`
  response.writeHead(status, { 'content-type': 'application/xml' }).end(isHead ? undefined : body)
}

async function send(response: ServerResponse, { status, headers, body }: S3Response, fault: Fault | undefined) {
  const bytes = Buffer.from(body ?? '')
  if (body === undefined) return void response.writeHead(status, headers).end()
  response.writeHead(status, { ...headers, 'content-length': String(bytes.length) })
  if (fault === 'corrupt') return void response.end(Buffer.alloc(bytes.length, 'x'))
  if (fault === 'truncate') {
    response.write(bytes.subarray(0, bytes.length >> 1), () => response.destroy())
    return
  }
  if (fault === 'drip') {
    for (const byte of bytes) {
      if (response.destroyed) return
      response.write(Buffer.from([byte]))
      await sleep(500)
    }
  }
  response.end(bytes)
}

/** Finds why a request is refused before it takes effect: its signature, the hash of its body, its checksum. */
function findRefusal(
  { method, headers }: IncomingMessage,
  url: URL,
  body: Buffer,
  { accessKeyId, secretAccessKey }: { accessKeyId: string; secretAccessKey: string },
): { status: number; code: string } | undefined {
  const authorization = headers.authorization ?? ''
  const found =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/.exec(
      authorization,
    )
  if (found === null) return { status: 403, code: 'AccessDenied' }
  const [, id = '', day = '', region = '', signed = '', signature] = found
  if (id !== accessKeyId) return { status: 403, code: 'InvalidAccessKeyId' }
  const claimed = String(headers['x-amz-content-sha256'])
  const bodyHash = createHash('sha256').update(body).digest('hex')
  if (claimed !== bodyHash) return { status: 400, code: 'XAmzContentSHA256Mismatch' }
  const checksum = headers['x-amz-checksum-sha256']
  if (checksum !== undefined && checksum !== Buffer.from(bodyHash, 'hex').toString('base64'))
    return { status: 400, code: 'BadDigest' }
  const names = signed.split(';')
  if (!names.includes('host') || !names.includes('x-amz-content-sha256')) return { status: 403, code: 'AccessDenied' }
  const escaped = (text: string) =>
    encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
  const query = [...url.searchParams].map(([name, value]) => `${escaped(name)}=${escaped(value)}`).sort()
  const canonical = [
    method,
    url.pathname,
    query.join('&'),
    ...names.map((name) => `${name}:${String(headers[name]).trim()}`),
    '',
    signed,
    claimed,
  ].join('\n')
  const date = String(headers['x-amz-date'])
  const scope = `${day}/${region}/s3/aws4_request`
  const text = ['AWS4-HMAC-SHA256', date, scope, createHash('sha256').update(canonical).digest('hex')].join('\n')
  const hmac = (key: string | Buffer, data: string) => createHmac('sha256', key).update(data).digest()
  const signing = [region, 's3', 'aws4_request'].reduce(hmac, hmac(`AWS4${secretAccessKey}`, day))
  const expected = hmac(signing, text).toString('hex')
  return expected === signature ? undefined : { status: 403, code: 'SignatureDoesNotMatch' }
}
