import { type Extract, extract } from 'tar-stream'
import type { Inside } from '../inside/inside.js'
import { bytesInWords, ReadError, type ReadLimits } from '../limits.js'
import type { Parsed, Parser, ParserInput } from '../parsed.js'
import { Listing } from './listing.js'

/** Bytes that the reader of the format is given at a time. */
const PIECE = 256 * 1024

/** Reads a tar archive as a folder, see `zip-folder.ts`. */
export const tarParser: Parser = {
  accepts: (mediaType) => mediaType === 'application/x-tar',
  parse: (input: ParserInput) => readTar(pieces(input.bytes), input),
}

/**
 * Reads an archive as its bytes come. What stands before a damage is kept, and the damage told.
 *
 * @throws ReadError `malformed` where nothing of it can be read, and what `source` throws
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
        // reading is not begun of what would not be read to its end: that would end the whole archive
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

/** Gives an archive its bytes as it takes them. What `source` throws ends the archive, and is thrown there. */
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
