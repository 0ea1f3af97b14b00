import { Readable } from 'node:stream'
import type { ReadableStream as NodeWebStream } from 'node:stream/web'
import { ChatError } from '../../contract/chat/errors.js'
import type { OpenChatFile } from '../../engine/answers/index.js'
import { pluralize } from '../../lib/text/pluralize.js'
import { selectRange } from '../http/partial.js'
import { toResponse } from '../http/reply.js'
import { chatErrorReply } from './reply.js'

const CACHE_SECONDS = 3600

/**
 * The response with the bytes of a file, or the requested range of them. End users provide the content, so it is never
 * rendered as a page: no sniffing, no scripts, and only an image is displayed.
 *
 * @param done called when the bytes were sent or the client disconnected
 */
export function createFileResponse(
  file: OpenChatFile,
  { request, asAttachment }: { request: Request; asAttachment: boolean },
  base: Readonly<Record<string, string>>,
  done: () => void,
): Response {
  const etag = `"${file.sha256}"`
  const isAttachment = asAttachment || !file.mimeType.startsWith('image/')
  const part = selectRange(request, file.size, etag)
  const headers = {
    ...base,
    etag,
    'cache-control': `public, max-age=${CACHE_SECONDS}`,
    // A shared cache must not serve the file to requests with another key.
    vary: 'Authorization',
    'content-security-policy': "default-src 'none'; sandbox",
    'cross-origin-resource-policy': 'cross-origin',
  }
  if (part.kind === 'unchanged' || part.kind === 'unsatisfiable') {
    file.handle.close().then(done, done)
    if (part.kind === 'unchanged') return new Response(null, { status: 304, headers })
    const refused = new ChatError(
      'range_not_satisfiable',
      `the file has ${pluralize(file.size, 'byte')}; only one range is supported`,
    )
    return toResponse(chatErrorReply(refused, { 'content-range': `bytes */${file.size}` }), base)
  }
  const { start, end } = part.kind === 'part' ? part : { start: 0, end: file.size - 1 }
  const content = file.handle.createReadStream(part.kind === 'part' ? { start, end } : {})
  content.once('close', done)
  const name = `filename*=UTF-8''${encodeExtendedValue(file.name)}`
  // The same class; only the names of its declarations differ.
  const body = Readable.toWeb(content) as NodeWebStream<Uint8Array> as ReadableStream<Uint8Array>
  return new Response(body, {
    status: part.kind === 'part' ? 206 : 200,
    headers: {
      ...headers,
      'content-type': isAttachment ? 'application/octet-stream' : file.mimeType,
      'content-length': String(end - start + 1),
      'content-disposition': `${isAttachment ? 'attachment' : 'inline'}; ${name}`,
      ...(part.kind === 'part' ? { 'content-range': `bytes ${start}-${end}/${file.size}` } : {}),
    },
  })
}

/** A parameter value of RFC 8187. */
function encodeExtendedValue(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}
