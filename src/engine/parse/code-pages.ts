import iconv from 'iconv-lite'

/** Windows numbers of encodings whose name is not `cp` and the number. */
const NAMES = new Map([
  [708, 'iso-8859-6'],
  [1200, 'utf-16le'],
  [1201, 'utf-16be'],
  [1361, 'cp949'],
  [10000, 'macroman'],
  [20127, 'latin1'],
  [28591, 'latin1'],
  [65001, 'utf-8'],
])
const FALLBACK = 'windows-1252'

/** The name of a Windows code page as iconv-lite knows it; Windows-1252 for unknown ones. */
export function codePageName(page: number): string {
  const name = NAMES.get(page) ?? `cp${page}`
  return iconv.encodingExists(name) ? name : FALLBACK
}
