import { formatByteCount, ReadError } from '../limits.js'
import type { ParsedDocument, Parser, ParserInput } from '../parsed.js'
import { ArchiveListing } from './listing.js'
import { openZip, type ZipArchive, type ZipEntry } from './zip.js'

/** Reads a zip archive as a folder: its files are separate documents, its text lists them. */
export const zipParser: Parser = {
  parse: parseZip,
}

async function parseZip({ bytes, filename, limits, inside: containedFiles }: ParserInput): Promise<ParsedDocument> {
  const archive = openZip(bytes, filename, { ...limits, archiveEntries: limits.containedFiles })
  const listing = new ArchiveListing(filename)
  for (const entry of archive.list) {
    if (entry.name.endsWith('/')) continue
    if (entry.isLink) listing.add(entry.name, { unread: 'it is a link to another file' })
    else if (entry.encrypted) listing.addEncrypted(entry.name)
    else {
      const content = unpackLazily(archive, entry, limits.containedBytes)
      listing.add(entry.name, await containedFiles.add({ name: entry.name, content }))
    }
  }
  return listing.toDocument()
}

/** Unpacks an entry on demand. */
function* unpackLazily(archive: ZipArchive, entry: ZipEntry, maxBytes: number): Generator<Buffer> {
  if (entry.size > maxBytes) throw new ReadError('malformed', `it is larger than ${formatByteCount(maxBytes)}`)
  yield archive.unpack(entry)
}
