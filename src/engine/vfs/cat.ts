import { KsError } from '../../contract/errors.js'
import type { CatResult } from '../../contract/gateway/fs.js'
import { defined } from '../../lib/defined.js'
import type { Text } from '../../lib/text/long-text.js'
import type { Place } from './namespace.js'
import { splitsPair } from './snippet.js'

/** maximum bytes of UTF-8 for one UTF-16 unit */
const BYTES_PER_UNIT = 3

/**
 * Returns a part of a resource's text. Offsets count UTF-16 units; returns at most `maxBytes` bytes of UTF-8, but at
 * least one character, so that a reader makes progress.
 *
 * @throws KsError `invalid-request` for a directory
 */
export async function cat(
  place: Place,
  request: { offset: number; maxBytes: number },
): Promise<Omit<CatResult, 'path'>> {
  const content = await place.read()
  if (content === undefined)
    throw new KsError('invalid-request', `path must name a resource, ${JSON.stringify(place.item.path)} is a directory`)
  const { text, contentType } = content
  const start = Math.min(request.offset, text.length)
  const offset = splitsPair(text, start) ? start - 1 : start
  const end = endWithin(text, offset, request.maxBytes)
  const { metadata, resourceType, targetId } = place.item
  return {
    content: text.slice(offset, end),
    contentType,
    offset,
    totalChars: text.length,
    ...(end < text.length ? { nextOffset: end } : {}),
    truncated: end < text.length,
    ...defined({ resourceType, targetId }),
    metadata,
  }
}

function endWithin(text: Text, offset: number, maxBytes: number): number {
  const candidate = text.slice(offset, offset + maxBytes)
  const room = Buffer.allocUnsafe(Math.min(maxBytes, candidate.length * BYTES_PER_UNIT))
  const { read } = new TextEncoder().encodeInto(candidate, room)
  if (read > 0 || candidate === '') return offset + read
  return offset + (splitsPair(text, offset + 1) ? 2 : 1)
}
