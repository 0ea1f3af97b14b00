import type { ZipArchive } from '../archive/zip.js'
import { buildStoredZip } from '../archive/zip-store.js'
import { formatByteCount, ReadError } from '../limits.js'
import { escapeMarkup } from '../markup/markup-events.js'
import type { ParserInput } from '../parsed.js'
import { addObjects, type EmbeddedObject, type EmbeddedObjects } from './embedded-files.js'
import { forEachTag, readXmlPart } from './office-package.js'
import { detectExtension } from './ole-file.js'
import { type OleContent, readCompoundContent } from './ole-object.js'

const MANIFEST = 'META-INF/manifest.xml'
const OLE_TYPE = 'application/vnd.sun.star.oleobject'
/** Object types that are documents; charts and formulas are part of the text. */
const DOCUMENT_EXTENSIONS = new Map([
  ['application/vnd.oasis.opendocument.text', 'odt'],
  ['application/vnd.oasis.opendocument.spreadsheet', 'ods'],
  ['application/vnd.oasis.opendocument.presentation', 'odp'],
  ['application/vnd.oasis.opendocument.graphics', 'odg'],
])

/** Adds the documents embedded in an OpenDocument file as contained documents, by the names that frames use. */
export async function addEmbeddedFromOdf(
  zip: ZipArchive,
  { filename, inside, limits }: Pick<ParserInput, 'filename' | 'inside' | 'limits'>,
): Promise<EmbeddedObjects> {
  const objects: [string, EmbeddedObject][] = []
  const manifest = zip.entries.has(MANIFEST) ? readManifest(zip, filename) : new Map<string, string>()
  for (const [path, type] of manifest) {
    const name = path.replace(/\/$/, '')
    if (name === '' || name.includes('/')) continue
    const extension = path.endsWith('/') ? DOCUMENT_EXTENSIONS.get(type) : undefined
    if (extension !== undefined)
      objects.push([
        name,
        { name, read: () => ({ ending: extension, content: packObject(zip, path, manifest, limits) }) },
      ])
    else if (type === OLE_TYPE && zip.entries.has(path))
      objects.push([
        name,
        { name, read: () => readObjectContent(zip, path, { filename: `${filename}/${name}`, limits }) },
      ])
  }
  return await addObjects(objects, inside)
}

function readManifest(zip: ZipArchive, filename: string): Map<string, string> {
  const parts = new Map<string, string>()
  forEachTag(readXmlPart(zip, MANIFEST, filename), 'manifest:file-entry', (attributes) => {
    const path = attributes.get('manifest:full-path')
    if (path !== undefined) parts.set(path, attributes.get('manifest:media-type') ?? '')
  })
  return parts
}

/** Packs the parts of an object as a separate file. */
function packObject(
  zip: ZipArchive,
  folder: string,
  manifest: ReadonlyMap<string, string>,
  { containedBytes }: ParserInput['limits'],
): Buffer {
  const entries = [...zip.entries].filter(([name]) => name.startsWith(folder) && !name.endsWith('/'))
  const size = entries.reduce((sum, [, entry]) => sum + entry.size, 0)
  if (size > containedBytes) throw new ReadError('malformed', `it is larger than ${formatByteCount(containedBytes)}`)
  const lines = [...manifest].flatMap(([path, kind]) =>
    path.startsWith(folder) ? [formatFileEntry(path.slice(folder.length) || '/', kind)] : [],
  )
  return buildStoredZip([
    ['mimetype', Buffer.from(manifest.get(folder) ?? '')],
    ...entries.map(([name, entry]) => [name.slice(folder.length), zip.unpack(entry)] as const),
    [MANIFEST, Buffer.from(`<manifest:manifest>${lines.join('')}</manifest:manifest>`)],
  ])
}

function formatFileEntry(path: string, type: string): string {
  return `<manifest:file-entry manifest:full-path="${escapeMarkup(path)}" manifest:media-type="${escapeMarkup(type)}"/>`
}

function readObjectContent(zip: ZipArchive, path: string, input: Pick<ParserInput, 'filename' | 'limits'>): OleContent {
  const entry = zip.entries.get(path)
  if (entry === undefined) return undefined
  const content = zip.unpack(entry)
  const extension = detectExtension(content)
  return extension === undefined || ['doc', 'xls', 'ppt'].includes(extension)
    ? readCompoundContent(content, input)
    : { ending: extension, content }
}
