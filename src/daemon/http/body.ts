import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import type { ReadableStream as NodeWebStream } from 'node:stream/web'
import { KsError } from '../../contract/errors.js'
import { quoteClipped } from '../../contract/issues.js'
import { LIMITS } from '../../contract/limits.js'
import { nestsDeeperThan } from '../../lib/json/depth.js'
import { watchBodyPace } from './pace.js'

/** Deeper values overflow the stack of later traversals. */
const MAX_DEPTH = 64

const JSON_TYPE = /^application\/json\s*(?:;\s*charset\s*=\s*"?utf-8"?\s*)?$/i

/** The body of a request as it arrives: from the socket, or from a request made inside the process. */
export function getBodyStream(request: Request, incoming: IncomingMessage | undefined): Readable {
  if (incoming !== undefined) return incoming
  if (request.body === null) return Readable.from([])
  // The same class; only the names of its declarations differ.
  return Readable.fromWeb(request.body as NodeWebStream)
}

/** Whether a request has no body: neither a length nor a content type is declared. */
export function isBodyless(request: Request, incoming: IncomingMessage | undefined): boolean {
  const { headers } = request
  if (headers.has('content-type') || headers.has('transfer-encoding')) return false
  return (headers.get('content-length') ?? '0') === '0' && (incoming !== undefined || request.body === null)
}

/** @throws KsError `invalid-request` for a compressed body, whose size cannot be limited before it is read */
export function rejectEncodedBody(headers: Headers): void {
  const encoding = headers.get('content-encoding')
  if (encoding !== null && encoding.trim().toLowerCase() !== 'identity')
    throw new KsError('invalid-request', `content-encoding must be identity, received ${quoteClipped(encoding)}`)
}

/**
 * Reads a JSON body.
 *
 * @returns the value and its text
 * @throws KsError `invalid-request`, `malformed-json`, `body-too-large`
 */
export async function readJson(
  request: Request,
  incoming: IncomingMessage | undefined,
  /** Content types accepted as JSON. */
  types = JSON_TYPE,
): Promise<{ value: unknown; text: string }> {
  const type = request.headers.get('content-type')
  if (type === null) throw new KsError('invalid-request', 'the body requires the content-type application/json')
  if (!types.test(type.trim()))
    throw new KsError('invalid-request', `content-type must be application/json, received ${quoteClipped(type)}`)
  rejectEncodedBody(request.headers)
  const text = decodeUtf8(await readBytes(request, incoming))
  if (nestsDeeperThan(text, MAX_DEPTH))
    throw new KsError('invalid-request', `the body is nested deeper than ${MAX_DEPTH} levels`)
  try {
    return { value: JSON.parse(text), text }
  } catch {
    throw new KsError('malformed-json', text.trim() === '' ? 'a JSON body is required' : 'the body is not valid JSON')
  }
}

/**
 * Reads a body up to the size limit.
 * @throws KsError `body-too-large`
 */
export async function readBytes(request: Request, incoming: IncomingMessage | undefined): Promise<Buffer> {
  const declared = Number(request.headers.get('content-length') ?? 0)
  if (declared > LIMITS.jsonBody) throw createBodyTooLarge()
  const source = getBodyStream(request, incoming)
  const chunks: Buffer[] = []
  let size = 0
  return new Promise((resolve, reject) => {
    const pace = watchBodyPace((slow) => finish(slow))
    const onData = (chunk: Buffer) => {
      pace.addBytes(chunk.length)
      size += chunk.length
      if (size > LIMITS.jsonBody) finish(createBodyTooLarge())
      else chunks.push(chunk)
    }
    const onEnd = () => finish()
    const onCut = () => finish(createConnectionClosed())
    const finish = (error?: Error) => {
      pace.stop()
      source.off('data', onData).off('end', onEnd).off('error', onCut).off('close', onCut)
      source.on('error', () => {}) // Later errors of the connection do not matter.
      if (error === undefined) return resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks))
      source.pause()
      reject(error)
    }
    source.on('data', onData).on('end', onEnd).on('error', onCut).on('close', onCut)
  })
}

/** Leaves the source open when the loop ends early: the error still has to be sent on its socket. */
export async function* readChunks(source: Readable): AsyncGenerator<Buffer> {
  try {
    yield* source.iterator({ destroyOnReturn: false })
  } catch {
    throw createConnectionClosed()
  }
}

/** The error for a body whose connection closed. No client receives it, but the log shows that it is not a defect. */
function createConnectionClosed(): KsError {
  return new KsError('invalid-request', 'the connection closed before the body was complete')
}

function createBodyTooLarge(): KsError {
  return new KsError('body-too-large', `the body must be at most ${LIMITS.jsonBody} bytes long`)
}

function decodeUtf8(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new KsError('malformed-json', 'the body is not valid UTF-8')
  }
}
