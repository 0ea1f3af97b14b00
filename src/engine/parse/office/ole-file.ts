import { CFB } from '@e965/xlsx'
import { decodeText } from '../charset.js'
import { sniffBinary } from '../magic.js'

/** Streams in which programs keep a file within an object: as it was dropped, in its own form, or as OpenDocument. */
const NATIVE = '\u0001Ole10Native'
const WHOLE = ['Package', 'CONTENTS', 'EmbeddedOdf', 'package_stream', 'Contents'] as const
/** What stands in an object that is a document of an old program, and the ending of its file. */
const DOCUMENTS = new Map([
  ['WordDocument', 'doc'],
  ['Workbook', 'xls'],
  ['Book', 'xls'],
  ['PowerPoint Document', 'ppt'],
  ['VisioDocument', 'vsd'],
  ['__properties_version1.0', 'msg'],
])
const ENDINGS = new Map([
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
/** Streams of one object that is made a file of its own, and storages within each other. */
const MAX_STREAMS = 2000
const MAX_DEPTH = 10

/** A file that an object holds. */
export interface OleFile {
  /** as it was named where it came from; objects of most programs say none */
  name?: string
  /** what its name should end in */
  ending: string
  content: Buffer
}

/** The streams of an object by name. */
export type OleStreams = ReadonlyMap<string, Buffer>

/**
 * The file in an object of an office file (MS-OLEDS): one that was dropped there, a document of another program, or
 * nothing where it is no file (a formula, a control).
 *
 * @param whole the object as a compound file, where it is one by itself
 */
export function fileInOle(streams: OleStreams, whole?: Buffer): OleFile | undefined {
  const native = streams.get(NATIVE)
  const dropped = native === undefined ? undefined : droppedFile(native)
  if (dropped !== undefined) return dropped
  for (const name of WHOLE) {
    const content = streams.get(name)
    const ending = content === undefined ? undefined : endingOfBytes(content)
    if (content !== undefined && ending !== undefined) return { ending, content }
  }
  for (const [name, ending] of DOCUMENTS)
    if (streams.has(name)) return { ending, content: whole ?? compoundOf(streams) }
  return undefined
}

/** What a file should end in, as its first bytes say; nothing for what is told by its name alone. */
export function endingOfBytes(bytes: Buffer): string | undefined {
  const type = sniffBinary(bytes)
  return type === undefined ? undefined : ENDINGS.get(type)
}

/** The storages of a compound file below a path: streams by name for each. */
export function storagesBelow(streams: OleStreams, prefix: RegExp): Map<string, Map<string, Buffer>> {
  const storages = new Map<string, Map<string, Buffer>>()
  for (const [path, content] of streams) {
    const found = prefix.exec(path)?.[0]
    if (found === undefined) continue
    const own = storages.get(found) ?? new Map<string, Buffer>()
    storages.set(found, own.set(path.slice(found.length), content))
  }
  return storages
}

/**
 * A file as it was dropped (MS-OLEDS 2.3.6): names as text up to a zero, its bytes, and with newer programs the names
 * once more in wide characters.
 */
function droppedFile(stream: Buffer): OleFile | undefined {
  let at = 6
  const text = (): string | undefined => {
    const end = stream.indexOf(0, at)
    if (end === -1 || end - at > MAX_NAME) return undefined
    const read = decodeText(stream.subarray(at, end)).text
    at = end + 1
    return read
  }
  const label = text()
  const path = text()
  if (label === undefined || path === undefined || at + 8 > stream.length) return undefined
  at += 8 + stream.readUInt32LE(at + 4)
  if (at + 4 > stream.length) return undefined
  const start = at + 4
  const end = start + stream.readUInt32LE(at)
  if (end > stream.length || end === start) return undefined
  const content = stream.subarray(start, end)
  const name = [wideName(stream, end), path, label].map(baseName).find((one) => one !== '')
  return { ...(name === undefined ? {} : { name }), ending: endingOfBytes(content) ?? '', content }
}

/** Of the three names behind the bytes (command, label, path) the label. */
function wideName(stream: Buffer, from: number): string {
  let at = from
  let name = ''
  for (let index = 0; index < 2 && at + 4 <= stream.length; index++) {
    const length = stream.readUInt32LE(at) * 2
    if (length > MAX_NAME || at + 4 + length > stream.length) return ''
    name = stream.toString('utf16le', at + 4, at + 4 + length)
    at += 4 + length
  }
  return name
}

function baseName(path: string): string {
  return path
    .slice(Math.max(path.lastIndexOf('\\'), path.lastIndexOf('/')) + 1)
    .replaceAll('\0', '')
    .trim()
}

/** An object that lies among others as a file of its own. */
function compoundOf(streams: OleStreams): Buffer {
  const file = CFB.utils.cfb_new()
  const paths = [...streams.keys()].filter((path) => path.split('/').length <= MAX_DEPTH)
  for (const path of paths.slice(0, MAX_STREAMS))
    CFB.utils.cfb_add(file, `/${path}`, streams.get(path), { unsafe: true })
  CFB.utils.cfb_gc(file)
  const bytes: unknown = CFB.write(file, { type: 'buffer' })
  return Buffer.isBuffer(bytes) ? bytes : Buffer.alloc(0)
}
