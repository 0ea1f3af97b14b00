import { deflate, deflateSync, inflate, inflateSync } from 'node:zlib'

const INLINE_BYTES = 64 * 1024 // above this, packing is handed to zlib's threads

/** JSON, deflated: the form in which artifacts, outlines and items are stored. */
export function pack(value: unknown): Promise<Uint8Array> {
  const text = Buffer.from(JSON.stringify(value))
  if (text.length <= INLINE_BYTES) return Promise.resolve(deflateSync(text, { level: 1 }))
  return new Promise((resolve, reject) =>
    deflate(text, { level: 1 }, (error, result) => (error === null ? resolve(result) : reject(error))),
  )
}

/** The caller names the type of what it packed. */
export function unpack<T>(bytes: Uint8Array): Promise<T> {
  if (bytes.length <= INLINE_BYTES / 4) return Promise.resolve(JSON.parse(inflateSync(bytes).toString('utf8')) as T)
  return new Promise((resolve, reject) =>
    inflate(bytes, (error, result) =>
      error === null ? resolve(JSON.parse(result.toString('utf8')) as T) : reject(error),
    ),
  )
}
