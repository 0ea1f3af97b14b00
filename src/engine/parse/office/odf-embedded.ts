import type { ZipArchive } from '../archive/zip.js'
import { storeZip } from '../archive/zip-store.js'
import { bytesInWords, ReadError } from '../limits.js'
import type { ParserInput } from '../parsed.js'
import { type Embedded, type EmbeddedObject, handOver } from './embedded-files.js'
import { forEachTag, xmlPart } from './office-package.js'
import { endingOfBytes } from './ole-file.js'
import { type Held, heldInCompound } from './ole-object.js'

const MANIFEST = 'META-INF/manifest.xml'
const OLE = 'application/vnd.sun.star.oleobject'
/** Object types that are documents; charts and formulas are part of the text. */
const DOCUMENTS = new Map([
  ['application/vnd.oasis.opendocument.text', 'odt'],
  ['application/vnd.oasis.opendocument.spreadsheet', 'ods'],
  ['application/vnd.oasis.opendocument.presentation', 'odp'],
  ['application/vnd.oasis.opendocument.graphics', 'odg'],
])

/** Adds the documents embedded in an OpenDocument file as contained documents, by the names that frames use. */
export async function embeddedInOdf(
  zip: ZipArchive,
  { filename, inside, limits }: Pick<ParserInput, 'filename' | 'inside' | 'limits'>,
): Promise<Embedded> {
  const objects: [string, EmbeddedObject][] = []
  const listed = zip.entries.has(MANIFEST) ? partsListed(zip, filename) : new Map<string, string>()
  for (const [path, type] of listed) {
    const name = path.replace(/\/$/, '')
    if (name === '' || name.includes('/')) continue
    const ending = path.endsWith('/') ? DOCUMENTS.get(type) : undefined
    if (ending !== undefined)
      objects.push([name, { name, read: () => ({ ending, content: packed(zip, path, type, listed, limits) }) }])
    else if (type === OLE && zip.entries.has(path))
      objects.push([name, { name, read: () => heldInObject(zip, path, { filename: `${filename}/${name}`, limits }) }])
  }
  return await handOver(objects, inside)
}

function partsListed(zip: ZipArchive, filename: string): Map<string, string> {
  const parts = new Map<string, string>()
  forEachTag(xmlPart(zip, MANIFEST, filename), 'manifest:file-entry', (attributes) => {
    const path = attributes.get('manifest:full-path')
    if (path !== undefined) parts.set(path, attributes.get('manifest:media-type') ?? '')
  })
  return parts
}

/** Packs the parts of an object as a separate file. */
function packed(
  zip: ZipArchive,
  folder: string,
  type: string,
  listed: ReadonlyMap<string, string>,
  { containedBytes }: ParserInput['limits'],
): Buffer {
  const entries = [...zip.entries].filter(([name]) => name.startsWith(folder) && !name.endsWith('/'))
  const size = entries.reduce((sum, [, entry]) => sum + entry.size, 0)
  if (size > containedBytes) throw new ReadError('malformed', `it is larger than ${bytesInWords(containedBytes)}`)
  const lines = [...listed].flatMap(([path, kind]) =>
    path.startsWith(folder) ? [fileEntry(path.slice(folder.length) || '/', kind)] : [],
  )
  return storeZip([
    ['mimetype', Buffer.from(type)],
    ...entries.map(([name, entry]) => [name.slice(folder.length), zip.unpack(entry)] as const),
    [MANIFEST, Buffer.from(`<manifest:manifest>${lines.join('')}</manifest:manifest>`)],
  ])
}

function fileEntry(path: string, type: string): string {
  return `<manifest:file-entry manifest:full-path="${escaped(path)}" manifest:media-type="${escaped(type)}"/>`
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}

function heldInObject(zip: ZipArchive, path: string, input: Pick<ParserInput, 'filename' | 'limits'>): Held {
  const entry = zip.entries.get(path)
  if (entry === undefined) return undefined
  const content = zip.unpack(entry)
  const ending = endingOfBytes(content)
  return ending === undefined || ['doc', 'xls', 'ppt'].includes(ending)
    ? heldInCompound(content, input)
    : { ending, content }
}
