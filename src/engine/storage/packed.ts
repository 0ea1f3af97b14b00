import { promisify } from 'node:util'
import { deflate, deflateSync, inflate, inflateSync } from 'node:zlib'
import { KsError } from '../../contract/errors.js'
import { parseInSlices } from '../../lib/json/parse.js'

const INLINE_BYTES = 64 * 1024 // above this, packing is handed to zlib's threads

/** What `pack` makes of an empty list. */
export const PACKED_NOTHING = deflateSync(JSON.stringify([]), { level: 1 })

/** JSON, deflated: the form in which artifacts, outlines and items are stored. */
export function pack(value: unknown): Promise<Uint8Array> {
  const text = Buffer.from(JSON.stringify(value))
  if (text.length <= INLINE_BYTES) return Promise.resolve(deflateSync(text, { level: 1 }))
  return new Promise((resolve, reject) =>
    deflate(text, { level: 1 }, (error, result) => (error === null ? resolve(result) : reject(error))),
  )
}

/**
 * The caller names the type of what it packed; others get their turn while a long one is read.
 *
 * @throws KsError `data-damaged` where it is not what was packed
 */
export async function unpack<T>(bytes: Uint8Array): Promise<T> {
  try {
    const text = bytes.length <= INLINE_BYTES / 4 ? inflateSync(bytes) : await inflated(bytes)
    return (await parseInSlices(text)) as T
  } catch (error) {
    throw new KsError('data-damaged', 'what was stored of a document is damaged; `ks fsck --repair` reads it again', {
      cause: error,
    })
  }
}

const inflated = promisify<Uint8Array, Buffer>(inflate)
