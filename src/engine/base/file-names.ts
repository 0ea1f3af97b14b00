import { posix } from 'node:path'
import { LIMITS } from '../../contract/limits.js'

/**
 * The stored name of a document: the client's relative path with `/` between folders, kept code point for code point,
 * so that different names of a file system stay different. Only what no file path can contain is removed: NUL, empty
 * segments, `.` and `..`. It is never a path of this machine; code that displays it must escape it.
 */
export function toStoredName(name: string): string {
  const parts = name.toWellFormed().replaceAll('\u0000', '').split('/')
  return parts.filter((part) => part !== '' && part !== '.' && part !== '..').join('/') || 'unnamed'
}

const CONTROLS = /[\u0001-\u001f\u007f-\u009f]/g
const MAX_SEGMENT_LENGTH = 255

/**
 * The path of a document below its folder in the virtual file system, from its stored name: in form NFC, with visible
 * symbols for control characters, short enough for a path. Documents may share it; the listing tells namesakes apart by
 * their ids.
 */
export function toVirtualName(filename: string): string {
  const parts = filename
    .replace(CONTROLS, toControlSymbol)
    .split('/')
    .map((part) => part.normalize('NFC').slice(0, MAX_SEGMENT_LENGTH).toWellFormed().normalize('NFC'))
  let path = parts.join('/')
  while (Buffer.byteLength(path) > LIMITS.filename - MAX_SEGMENT_LENGTH && parts.length > 1) {
    parts.shift()
    path = parts.join('/')
  }
  return path
}

/** U+2400 and the following are symbols for the C0 controls; C1 controls have none. */
function toControlSymbol(control: string): string {
  const code = control.charCodeAt(0)
  if (code < 0x20) return String.fromCharCode(0x2400 + code)
  return code === 0x7f ? '\u2421' : '\ufffd'
}

const MEDIA_TYPES_BY_EXTENSION: Record<string, string> = {
  '.md': 'text/markdown',
  '.markdown': 'text/markdown',
  '.txt': 'text/plain',
  '.text': 'text/plain',
  '.log': 'text/plain',
  '.rst': 'text/x-rst',
  '.org': 'text/x-org',
  '.html': 'text/html',
  '.htm': 'text/html',
  '.xml': 'application/xml',
  '.json': 'application/json',
  '.jsonl': 'application/x-ndjson',
  '.ndjson': 'application/x-ndjson',
  '.yaml': 'application/yaml',
  '.yml': 'application/yaml',
  '.csv': 'text/csv',
  '.tsv': 'text/tab-separated-values',
  '.pdf': 'application/pdf',
  '.docx': 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  '.pptx': 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  '.xlsx': 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  '.xls': 'application/vnd.ms-excel',
  '.odt': 'application/vnd.oasis.opendocument.text',
  '.odp': 'application/vnd.oasis.opendocument.presentation',
  '.ods': 'application/vnd.oasis.opendocument.spreadsheet',
  '.epub': 'application/epub+zip',
  '.rtf': 'application/rtf',
  '.msg': 'application/vnd.ms-outlook',
}

const MEDIA_TYPE = /^[a-z0-9][a-z0-9!#$&^_.+-]{0,126}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,126}$/

/**
 * The media type shown until the file is parsed: the declared one unless it is generic, else the one of the file
 * extension.
 */
export function getProvisionalMediaType(filename: string, declared: string | undefined): string {
  const clean = declared?.split(';')[0]?.trim().toLowerCase() ?? ''
  if (MEDIA_TYPE.test(clean) && clean !== 'application/octet-stream') return clean
  return MEDIA_TYPES_BY_EXTENSION[posix.extname(filename).toLowerCase()] ?? 'application/octet-stream'
}
