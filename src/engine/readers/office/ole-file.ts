import { CFB } from '@e965/xlsx'
import { decodeText } from '../charset.js'
import { sniffBinary } from '../magic.js'

/**
 * Streams in which programs store a file within an object: as it was inserted, in the program's own form, or as
 * OpenDocument.
 */
const NATIVE_STREAM = '\u0001Ole10Native'
const FILE_STREAMS = ['Package', 'CONTENTS', 'EmbeddedOdf', 'package_stream', 'Contents'] as const
/** Streams of documents of old programs, and the extensions of their files. */
const DOCUMENT_EXTENSIONS = new Map([
  ['WordDocument', 'doc'],
  ['Workbook', 'xls'],
  ['Book', 'xls'],
  ['PowerPoint Document', 'ppt'],
  ['VisioDocument', 'vsd'],
  ['__properties_version1.0', 'msg'],
])
const EXTENSIONS = new Map([
  ['application/pdf', 'pdf'],
  ['application/msword', 'doc'],
  ['application/vnd.ms-excel', 'xls'],
  ['application/vnd.ms-powerpoint', 'ppt'],
  ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', 'docx'],
  ['application/vnd.openxmlformats-officedocument.wordprocessingml.template', 'dotx'],
  ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', 'xlsx'],
  ['application/vnd.openxmlformats-officedocument.presentationml.presentation', 'pptx'],
  ['application/vnd.oasis.opendocument.text', 'odt'],
  ['application/vnd.oasis.opendocument.spreadsheet', 'ods'],
  ['application/vnd.oasis.opendocument.presentation', 'odp'],
  ['application/vnd.oasis.opendocument.graphics', 'odg'],
  ['application/vnd.ms-visio.drawing', 'vsdx'],
  ['application/rtf', 'rtf'],
  ['application/zip', 'zip'],
  ['image/png', 'png'],
  ['image/jpeg', 'jpg'],
  ['image/bmp', 'bmp'],
])
const MAX_NAME = 1000
/** Maximal number of streams of an object that becomes a separate file, and of nested storages. */
const MAX_STREAMS = 2000
const MAX_DEPTH = 10

/** A file inside an object. */
export interface OleFile {
  /** Its original name; objects of most programs have none. */
  name?: string
  /** Extension for its name, without a dot. */
  ending: string
  content: Buffer
}

/** The streams of an object by name. */
export type OleStreams = ReadonlyMap<string, Buffer>

/**
 * Reads the file in an object of an office file (MS-OLEDS): an inserted file, or a document of another program. Returns
 * undefined when it is not a file (a formula, a control).
 *
 * @param compoundFile the object as a compound file, when it is one
 */
export function readOleFile(streams: OleStreams, compoundFile?: Buffer): OleFile | undefined {
  const nativeStream = streams.get(NATIVE_STREAM)
  const insertedFile = nativeStream === undefined ? undefined : readInsertedFile(nativeStream)
  if (insertedFile !== undefined) return insertedFile
  for (const name of FILE_STREAMS) {
    const content = streams.get(name)
    const ending = content === undefined ? undefined : detectExtension(content)
    if (content !== undefined && ending !== undefined) return { ending, content }
  }
  for (const [name, ending] of DOCUMENT_EXTENSIONS)
    if (streams.has(name)) return { ending, content: compoundFile ?? toCompoundFile(streams) }
  return undefined
}

/** The file extension according to the first bytes; undefined for types that only a name can tell. */
export function detectExtension(bytes: Buffer): string | undefined {
  const type = sniffBinary(bytes)
  return type === undefined ? undefined : EXTENSIONS.get(type)
}

/** Groups the streams of a compound file by their storages below a path; keys of the inner maps are stream names. */
export function groupByStorage(streams: OleStreams, prefix: RegExp): Map<string, Map<string, Buffer>> {
  const storages = new Map<string, Map<string, Buffer>>()
  for (const [path, content] of streams) {
    const storage = prefix.exec(path)?.[0]
    if (storage === undefined) continue
    const storageStreams = storages.get(storage) ?? new Map<string, Buffer>()
    storages.set(storage, storageStreams.set(path.slice(storage.length), content))
  }
  return storages
}

/**
 * Reads an inserted file (MS-OLEDS 2.3.6): zero-terminated names, its bytes and, from newer programs, the names again
 * as wide characters.
 */
function readInsertedFile(stream: Buffer): OleFile | undefined {
  let offset = 6
  const readText = (): string | undefined => {
    const end = stream.indexOf(0, offset)
    if (end === -1 || end - offset > MAX_NAME) return undefined
    const decoded = decodeText(stream.subarray(offset, end)).text
    offset = end + 1
    return decoded
  }
  const label = readText()
  const path = readText()
  if (label === undefined || path === undefined || offset + 8 > stream.length) return undefined
  offset += 8 + stream.readUInt32LE(offset + 4)
  if (offset + 4 > stream.length) return undefined
  const start = offset + 4
  const end = start + stream.readUInt32LE(offset)
  if (end > stream.length || end === start) return undefined
  const content = stream.subarray(start, end)
  const name = [readWideLabel(stream, end), path, label].map(baseName).find((candidate) => candidate !== '')
  return { ...(name === undefined ? {} : { name }), ending: detectExtension(content) ?? '', content }
}

/** The label, the second of the three names after the bytes (command, label, path). */
function readWideLabel(stream: Buffer, start: number): string {
  let offset = start
  let name = ''
  for (let index = 0; index < 2 && offset + 4 <= stream.length; index++) {
    const length = stream.readUInt32LE(offset) * 2
    if (length > MAX_NAME || offset + 4 + length > stream.length) return ''
    name = stream.toString('utf16le', offset + 4, offset + 4 + length)
    offset += 4 + length
  }
  return name
}

function baseName(path: string): string {
  return path
    .slice(Math.max(path.lastIndexOf('\\'), path.lastIndexOf('/')) + 1)
    .replaceAll('\0', '')
    .trim()
}

/** Converts an object inside a file to a separate compound file. */
function toCompoundFile(streams: OleStreams): Buffer {
  const file = CFB.utils.cfb_new()
  const paths = [...streams.keys()].filter((path) => path.split('/').length <= MAX_DEPTH)
  for (const path of paths.slice(0, MAX_STREAMS))
    CFB.utils.cfb_add(file, `/${path}`, streams.get(path), { unsafe: true })
  CFB.utils.cfb_gc(file)
  const bytes: unknown = CFB.write(file, { type: 'buffer' })
  return Buffer.isBuffer(bytes) ? bytes : Buffer.alloc(0)
}
