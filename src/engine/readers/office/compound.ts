import { CFB } from '@e965/xlsx'
import { isRecord } from '../../../lib/json/values.js'
import { ReadError } from '../limits.js'
import { hasNoCycles } from './compound-chains.js'

/** Maximal number of streams of one file; a mail has some tens for each attachment. */
const MAX_STREAMS = 100_000

/**
 * Reads the streams of a compound file (MS-CFB) by path, without the name of the root: `__substg1.0_0037001F`,
 * `__attach_version1.0_#00000000/__substg1.0_37010102`. Empty streams are left out.
 *
 * @throws ReadError `malformed`
 */
export function readCompound(bytes: Buffer, filename: string): Map<string, Buffer> {
  checkCompound(bytes, filename)
  const streams = new Map<string, Buffer>()
  try {
    const file: unknown = CFB.read(bytes, { type: 'buffer' })
    const paths: unknown = isRecord(file) ? file.FullPaths : undefined
    const entries: unknown = isRecord(file) ? file.FileIndex : undefined
    if (!Array.isArray(paths) || !Array.isArray(entries)) return streams
    for (const [index, path] of paths.slice(0, MAX_STREAMS).entries()) {
      const entry: unknown = entries[index]
      const content: unknown = isRecord(entry) ? entry.content : undefined
      if (typeof path !== 'string' || !(content instanceof Uint8Array)) continue
      streams.set(path.slice(path.indexOf('/') + 1), Buffer.from(content.buffer, content.byteOffset, content.length))
    }
    return streams
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error)
    throw new ReadError('malformed', `${filename} is not a readable compound file: ${detail.slice(0, 200)}`, {
      cause: error,
    })
  }
}

/** @throws ReadError `malformed` for a file whose sector chains contain a cycle */
export function checkCompound(bytes: Buffer, filename: string): void {
  if (hasNoCycles(bytes)) return
  throw new ReadError('malformed', `${filename} is damaged: its sector chains contain a cycle`)
}
