import { posix } from 'node:path'
import { LIMITS } from '../../contract/limits.js'

// C0, DEL, C1, and the characters that reorder text on a screen
const UNSHOWABLE = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g
const MAX_SEGMENT = 255

/**
 * The name under which a document is shown: the client's relative path with `/` between folders, without drive letters,
 * `.`, `..`, empty parts, control and bidi characters. It is display text and never a path of this machine.
 */
export function displayName(name: string): string {
  const parts = name
    .normalize('NFC')
    .toWellFormed()
    .replaceAll('\\', '/')
    .replace(/^[A-Za-z]:/, '')
    .replace(UNSHOWABLE, '')
    .split('/')
    .map((part) => part.trim().slice(0, MAX_SEGMENT).toWellFormed().normalize('NFC').trim())
    .filter((part) => part !== '' && part !== '.' && part !== '..')
  let shown = parts.join('/')
  while (Buffer.byteLength(shown) > LIMITS.filename - MAX_SEGMENT && parts.length > 1) {
    parts.shift()
    shown = parts.join('/')
  }
  return shown === '' ? 'unnamed' : shown
}

const TYPES: Record<string, string> = {
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

/** The media type to show until the file was read: the declared one unless it says nothing, else by the ending. */
export function provisionalType(filename: string, declared: string | undefined): string {
  const clean = declared?.split(';')[0]?.trim().toLowerCase() ?? ''
  if (MEDIA_TYPE.test(clean) && clean !== 'application/octet-stream') return clean
  return TYPES[posix.extname(filename).toLowerCase()] ?? 'application/octet-stream'
}
