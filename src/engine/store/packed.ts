import { promisify } from 'node:util'
import { createInflate, deflate, deflateSync, inflate, inflateSync } from 'node:zlib'
import { KsError } from '../../contract/errors.js'
import { type JsonLimits, JsonReader, JsonTooLarge } from '../../lib/json/reader.js'

const MAX_SYNC_BYTES = 64 * 1024 // above this, packing is handed to zlib's threads
/** Sizes in bytes: a packed part up to the first is unpacked in one call, unless the result exceeds the second. */
const SMALL_PART_BYTES = { packed: 16 * 1024, unpacked: 256 * 1024 }

/** Limits of one value that is read alone from packed JSON: an element, an item, a field of a section. */
export const VALUE_LIMITS: JsonLimits = { valueBytes: 16 * 1024 * 1024, depth: 64, values: 1_000_000 }

/** Packed form of an empty list. */
export const PACKED_EMPTY_LIST = deflateSync(JSON.stringify([]), { level: 1 })

/** Packs a value as deflated JSON, the form in which artifacts, outlines and items are stored. */
export function pack(value: unknown): Promise<Uint8Array> {
  return packText(Buffer.from(JSON.stringify(value)))
}

export function packText(text: Uint8Array): Promise<Uint8Array> {
  if (text.length <= MAX_SYNC_BYTES) return Promise.resolve(deflateSync(text, { level: 1 }))
  return new Promise((resolve, reject) =>
    deflate(text, { level: 1 }, (error, result) => (error === null ? resolve(result) : reject(error))),
  )
}

/**
 * Unpacks a value whose type the caller names. Only for short values that this program packed: use `readPacked` for long
 * or imported ones, so that other work runs meanwhile.
 *
 * @throws KsError `data-damaged` where the bytes are not packed JSON
 */
export async function unpack<T>(bytes: Uint8Array): Promise<T> {
  try {
    const text = bytes.length <= MAX_SYNC_BYTES / 4 ? inflateSync(bytes) : await inflateAsync(bytes)
    return JSON.parse(text.toString('utf8')) as T
  } catch (error) {
    throw damagedPartError(error)
  }
}

const inflateAsync = promisify<Uint8Array, Buffer>(inflate)

/**
 * Reads packed JSON value by value, in bounded memory.
 *
 * @param read reads the needed values; the caller may stop early
 * @throws KsError `data-damaged` where the bytes are not packed JSON
 */
export async function* readPacked<T>(
  packed: Uint8Array,
  read: (json: JsonReader) => AsyncIterable<T>,
): AsyncGenerator<T> {
  const chunks = inflateChunks(packed)
  try {
    yield* read(new JsonReader(chunks, VALUE_LIMITS))
  } catch (error) {
    throw isUnpackError(error) ? damagedPartError(error) : error
  } finally {
    await chunks.return(undefined)
  }
}

/** Unpacks bytes in chunks. @throws KsError `data-damaged` */
export async function* unpackChunks(packed: Uint8Array): AsyncGenerator<Uint8Array> {
  try {
    yield* inflateChunks(packed)
  } catch (error) {
    throw isUnpackError(error) ? damagedPartError(error) : error
  }
}

async function* inflateChunks(packed: Uint8Array): AsyncGenerator<Uint8Array> {
  const small = packed.length <= SMALL_PART_BYTES.packed ? inflateSmall(packed) : undefined
  if (small !== undefined) return yield small
  const inflating = createInflate({ chunkSize: MAX_SYNC_BYTES })
  inflating.end(packed)
  yield* inflating
}

function inflateSmall(packed: Uint8Array): Buffer | undefined {
  try {
    return inflateSync(packed, { maxOutputLength: SMALL_PART_BYTES.unpacked })
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

/** Whether an error comes from the packed bytes, and not from the caller. */
function isUnpackError(error: unknown): boolean {
  if (error instanceof SyntaxError || error instanceof JsonTooLarge) return true
  return error instanceof Error && 'code' in error && String(error.code).startsWith('Z_')
}

function damagedPartError(cause: unknown): KsError {
  return new KsError('data-damaged', 'stored data of a document is damaged; `ks fsck --repair` reads it again', {
    cause,
  })
}
