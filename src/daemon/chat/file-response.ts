import { Readable } from 'node:stream'
import type { ReadableStream as NodeWebStream } from 'node:stream/web'
import type { OpenFile } from '../../engine/chat/files/preview.js'

const CACHE_SECONDS = 3600

/**
 * The bytes of a file. Whoever uploaded it chose them, so they are never a page of their own: no sniffing, no scripts.
 *
 * @param done called once the bytes went out or nobody reads them any more
 */
export function fileResponse(
  file: OpenFile,
  asAttachment: boolean,
  base: Readonly<Record<string, string>>,
  done: () => void,
): Response {
  const content = file.handle.createReadStream()
  content.once('close', done)
  const name = `filename*=UTF-8''${extendedValue(file.name)}`
  const headers = {
    ...base,
    'content-type': asAttachment ? 'application/octet-stream' : file.mimeType,
    'content-length': String(file.size),
    'content-disposition': `${asAttachment ? 'attachment' : 'inline'}; ${name}`,
    'cache-control': `public, max-age=${CACHE_SECONDS}`,
    // a shared cache gives the file to nobody who does not show the same key
    vary: 'Authorization',
    'content-security-policy': "default-src 'none'; sandbox",
    'cross-origin-resource-policy': 'cross-origin',
  }
  // the same class; only the names of its declarations differ
  const body = Readable.toWeb(content) as NodeWebStream<Uint8Array> as ReadableStream<Uint8Array>
  return new Response(body, { status: 200, headers })
}

/** A parameter value of RFC 8187. */
function extendedValue(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replace(
    /['()*]/g,
    (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}
