import { ReadError } from './limits.js'
import { endingOf } from './sniff.js'

const KINDS: readonly (readonly [RegExp, string])[] = [
  [/spreadsheet|ms-excel/, 'a spreadsheet'],
  [/presentation|ms-powerpoint/, 'a presentation'],
  [/msword|opendocument\.text|rtf|wordperfect/, 'a word-processor document'],
  [/epub/, 'an e-book'],
  [/^image\//, 'a picture'],
  [/^audio\//, 'a sound file'],
  [/^video\//, 'a video'],
  [/^font\//, 'a font'],
  [/outlook|rfc822/, 'an e-mail'],
  [/zip|gzip|tar|bzip2|xz|zstd|7z|rar|archive/, 'an archive'],
  [/executable|java-vm|wasm/, 'a program'],
  [/sqlite|parquet/, 'a database file'],
]

/** Archives that are not opened, by the names that people know them by. */
const CLOSED_ARCHIVES: Readonly<Record<string, string>> = {
  'application/x-7z-compressed': 'a 7-Zip archive',
  'application/vnd.rar': 'a RAR archive',
  'application/x-bzip2': 'packed by bzip2',
  'application/x-xz': 'packed by xz',
  'application/zstd': 'packed by zstd',
}

/** Endings of formats that are read, and whose files are recognised by their first bytes. */
const RECOGNISED_BY_BYTES = new Set([
  'pdf',
  'docx',
  'dotx',
  'xlsx',
  'xls',
  'pptx',
  'odt',
  'odp',
  'ods',
  'epub',
  'rtf',
  'msg',
  'zip',
  'tar',
  'gz',
  'tgz',
])

/** The error for a type without a parser: one sentence that says what the file is. */
export function unsupported(filename: string, mediaType: string): ReadError {
  if (mediaType === 'application/x-ole-encrypted') {
    return new ReadError('encrypted', `${filename} is protected by a password`)
  }
  if (mediaType === 'application/octet-stream') {
    if (RECOGNISED_BY_BYTES.has(endingOf(filename))) {
      return new ReadError(
        'malformed',
        `${filename} is not what its name says: its bytes are no ${endingOf(filename)} file`,
      )
    }
    return new ReadError('unsupported-type', `${filename} is neither text nor of a known type, so it cannot be read`)
  }
  const archive = CLOSED_ARCHIVES[mediaType]
  if (archive !== undefined)
    return new ReadError('unsupported-type', `${filename} is ${archive}, which is not opened: pack it as ZIP or TAR.GZ`)
  const kind = KINDS.find(([pattern]) => pattern.test(mediaType))?.[1] ?? 'a file'
  return new ReadError('unsupported-type', `${filename} is ${kind} (${mediaType}), which cannot be read yet`)
}
