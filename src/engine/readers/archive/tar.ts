import { type Extract, extract } from 'tar-stream'
import type { ContainedFileCollector } from '../inside/contained-files.js'
import { formatByteCount, ReadError, type ReadLimits } from '../limits.js'
import type { ParsedDocument, Parser, ParserInput } from '../parsed.js'
import { ArchiveListing } from './listing.js'

/** Bytes that are passed to a library at a time. */
export const CHUNK_BYTES = 256 * 1024

/** Reads a tar archive as a folder, see `zip-folder.ts`. */
export const tarParser: Parser = {
  parse: (input: ParserInput) => readTar(splitChunks(input.bytes), input),
}

/**
 * Reads an archive while its bytes arrive. Entries before a damage are kept, and the damage is listed.
 *
 * @throws ReadError `malformed` where nothing can be read, and errors of `source`
 */
export async function readTar(
  source: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  {
    filename,
    inside: containedFiles,
    limits,
  }: { filename: string; inside: ContainedFileCollector; limits: ReadLimits },
): Promise<ParsedDocument> {
  const listing = new ArchiveListing(filename)
  let entryCount = 0
  const archive = extract()
  const feeding = feedArchive(source, archive)
  try {
    for await (const entry of archive) {
      entryCount += 1
      const { type, name, linkname, size = 0 } = entry.header
      if (type === 'link' || type === 'symlink') listing.add(name, { unread: `it is a link to ${linkname ?? ''}` })
      else if (type === 'file' || type === 'contiguous-file') {
        // Skips the entry at once: an error while it is read would end the entire archive.
        const isLarge = size > limits.containedBytes
        const unread = `it is larger than ${formatByteCount(limits.containedBytes)}`
        listing.add(name, isLarge ? { unread } : await containedFiles.add({ name, content: entry }))
      }
      entry.resume()
    }
    await feeding
  } catch (error) {
    if (error instanceof ReadError) throw error
    const detail = error instanceof Error ? error.message : String(error)
    if (entryCount === 0)
      throw new ReadError('malformed', `${filename} is no readable tar archive: ${detail.slice(0, 200)}`)
    listing.add('the rest', { unread: `the archive is damaged: ${detail.slice(0, 200)}` })
  }
  return listing.toDocument()
}

/** Passes bytes to the archive as it takes them. An error of `source` destroys the archive, and its reader gets it. */
async function feedArchive(source: Iterable<Uint8Array> | AsyncIterable<Uint8Array>, archive: Extract): Promise<void> {
  let resume = () => {}
  archive.on('drain', () => resume())
  archive.on('close', () => resume())
  try {
    for await (const piece of source) {
      if (archive.destroyed) return
      if (archive.write(piece)) continue
      await new Promise<void>((resolve) => {
        resume = resolve
      })
    }
    archive.end()
  } catch (error) {
    archive.destroy(error instanceof Error ? error : new Error(String(error)))
  }
}

export function* splitChunks(bytes: Buffer): Generator<Buffer> {
  for (let offset = 0; offset < bytes.length; offset += CHUNK_BYTES) yield bytes.subarray(offset, offset + CHUNK_BYTES)
}
