import iconv from 'iconv-lite'

/** Encodings of Windows code pages whose name is not `cp` plus the number. */
const ENCODING_NAMES = new Map([
  [708, 'iso-8859-6'],
  [1200, 'utf-16le'],
  [1201, 'utf-16be'],
  [1361, 'cp949'],
  [10000, 'macroman'],
  [20127, 'latin1'],
  [28591, 'latin1'],
  [65001, 'utf-8'],
])
const FALLBACK_ENCODING = 'windows-1252'

/** Name of a Windows code page in iconv-lite; Windows-1252 for unknown code pages. */
export function toEncodingName(page: number): string {
  const name = ENCODING_NAMES.get(page) ?? `cp${page}`
  return iconv.encodingExists(name) ? name : FALLBACK_ENCODING
}
