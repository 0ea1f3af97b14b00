import { bytesInWords, ReadError } from '../limits.js'
import type { Parsed, Parser, ParserInput } from '../parsed.js'
import { Listing } from './listing.js'
import { openZip, type ZipArchive, type ZipEntry } from './zip.js'

/** Reads a zip archive as a folder: its files are separate documents, its text lists them. */
export const zipParser: Parser = {
  accepts: (mediaType) => mediaType === 'application/zip',
  parse: parseZip,
}

async function parseZip({ bytes, filename, limits, inside }: ParserInput): Promise<Parsed> {
  const archive = openZip(bytes, filename, { ...limits, archiveEntries: limits.containedFiles })
  const listing = new Listing(filename)
  for (const entry of archive.list) {
    if (entry.name.endsWith('/')) continue
    if (entry.isLink) listing.note(entry.name, { unread: 'it is a link to another file' })
    else if (entry.encrypted) listing.noteLocked(entry.name)
    else {
      const content = contentOf(archive, entry, limits.containedBytes)
      listing.note(entry.name, await inside.add({ name: entry.name, content }))
    }
  }
  return listing.told()
}

/** Unpacks an entry on demand. */
function* contentOf(archive: ZipArchive, entry: ZipEntry, most: number): Generator<Buffer> {
  if (entry.size > most) throw new ReadError('malformed', `it is larger than ${bytesInWords(most)}`)
  yield archive.unpack(entry)
}
