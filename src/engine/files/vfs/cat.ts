import { KsError } from '../../../contract/errors.js'
import type { CatResult } from '../../../contract/gateway/fs.js'
import { omitUndefined } from '../../../lib/omit-undefined.js'
import type { Text } from '../../../lib/text/long-text.js'
import type { VfsNode } from './namespace.js'
import { splitsSurrogatePair } from './snippet.js'

/** maximum bytes of UTF-8 for one UTF-16 unit */
const BYTES_PER_UNIT = 3

/**
 * Returns a part of a resource's text. Offsets count UTF-16 units; returns at most `maxBytes` bytes of UTF-8, but at
 * least one character, so that a reader makes progress.
 *
 * @throws KsError `invalid-request` for a directory
 */
export async function cat(
  node: VfsNode,
  request: { offset: number; maxBytes: number },
): Promise<Omit<CatResult, 'path'>> {
  const content = await node.read()
  if (content === undefined)
    throw new KsError('invalid-request', `path must name a resource, ${JSON.stringify(node.item.path)} is a directory`)
  const { text, contentType } = content
  const start = Math.min(request.offset, text.length)
  const offset = splitsSurrogatePair(text, start) ? start - 1 : start
  const end = findEndWithin(text, offset, request.maxBytes)
  const { metadata, resourceType, targetId } = node.item
  return {
    content: text.slice(offset, end),
    contentType,
    offset,
    totalChars: text.length,
    ...(end < text.length ? { nextOffset: end } : {}),
    truncated: end < text.length,
    ...omitUndefined({ resourceType, targetId }),
    metadata,
  }
}

function findEndWithin(text: Text, offset: number, maxBytes: number): number {
  const candidate = text.slice(offset, offset + maxBytes)
  const buffer = Buffer.allocUnsafe(Math.min(maxBytes, candidate.length * BYTES_PER_UNIT))
  const { read } = new TextEncoder().encodeInto(candidate, buffer)
  if (read > 0 || candidate === '') return offset + read
  return offset + (splitsSurrogatePair(text, offset + 1) ? 2 : 1)
}
