import { type Extract, extract } from 'tar-stream'
import type { Inside } from '../inside/inside.js'
import { bytesInWords, ReadError, type ReadLimits } from '../limits.js'
import type { Parsed, Parser, ParserInput } from '../parsed.js'
import { Listing } from './listing.js'

/** Bytes that are passed to the tar library at a time. */
const PIECE = 256 * 1024

/** Reads a tar archive as a folder, see `zip-folder.ts`. */
export const tarParser: Parser = {
  accepts: (mediaType) => mediaType === 'application/x-tar',
  parse: (input: ParserInput) => readTar(pieces(input.bytes), input),
}

/**
 * Reads an archive while its bytes arrive. Entries before a damage are kept, and the damage is listed.
 *
 * @throws ReadError `malformed` where nothing can be read, and errors of `source`
 */
export async function readTar(
  source: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  { filename, inside, limits }: { filename: string; inside: Inside; limits: ReadLimits },
): Promise<Parsed> {
  const listing = new Listing(filename)
  let found = 0
  const archive = extract()
  const fed = feed(source, archive)
  try {
    for await (const entry of archive) {
      found += 1
      const { type, name, linkname, size = 0 } = entry.header
      if (type === 'link' || type === 'symlink') listing.note(name, { unread: `it is a link to ${linkname ?? ''}` })
      else if (type === 'file' || type === 'contiguous-file') {
        // Skips the entry at once: an error while it is read would end the entire archive.
        const isLarge = size > limits.containedBytes
        const unread = `it is larger than ${bytesInWords(limits.containedBytes)}`
        listing.note(name, isLarge ? { unread } : await inside.add({ name, content: entry }))
      }
      entry.resume()
    }
    await fed
  } catch (error) {
    if (error instanceof ReadError) throw error
    const detail = error instanceof Error ? error.message : String(error)
    if (found === 0) throw new ReadError('malformed', `${filename} is no readable tar archive: ${detail.slice(0, 200)}`)
    listing.note('the rest', { unread: `the archive is damaged: ${detail.slice(0, 200)}` })
  }
  return listing.told()
}

/** Passes bytes to the archive as it takes them. An error of `source` destroys the archive, and its reader gets it. */
async function feed(source: Iterable<Uint8Array> | AsyncIterable<Uint8Array>, archive: Extract): Promise<void> {
  let goOn = () => {}
  archive.on('drain', () => goOn())
  archive.on('close', () => goOn())
  try {
    for await (const piece of source) {
      if (archive.destroyed) return
      if (archive.write(piece)) continue
      await new Promise<void>((resolve) => {
        goOn = resolve
      })
    }
    archive.end()
  } catch (error) {
    archive.destroy(error instanceof Error ? error : new Error(String(error)))
  }
}

function* pieces(bytes: Buffer): Generator<Buffer> {
  for (let from = 0; from < bytes.length; from += PIECE) yield bytes.subarray(from, from + PIECE)
}
