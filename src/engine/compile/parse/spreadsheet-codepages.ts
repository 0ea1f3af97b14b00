import { set_cptable } from '@e965/xlsx'
import iconv from 'iconv-lite'

/** Windows numbers of encodings whose name is not `cp` and the number. */
const NAMES = new Map([
  [1200, 'utf-16le'],
  [1201, 'utf-16be'],
  [10000, 'macroman'],
  [20127, 'latin1'],
  [28591, 'latin1'],
  [65000, 'utf-7'],
  [65001, 'utf-8'],
])
const FALLBACK = 'windows-1252'

/** Lets the library read the code pages of old workbooks through iconv-lite, in place of its own half megabyte of tables. */
export function installCodePages(): void {
  set_cptable({ utils: { decode, encode, hascp: (page: number) => iconv.encodingExists(nameOf(page)) } })
}

/** The name of a Windows code page as iconv-lite knows it; Windows-1252 for unknown ones. */
export function codePageName(page: number): string {
  const name = nameOf(page)
  return iconv.encodingExists(name) ? name : FALLBACK
}

function nameOf(page: number): string {
  return NAMES.get(page) ?? `cp${page}`
}

function decode(page: number, data: string | number[] | Uint8Array): string {
  const bytes = typeof data === 'string' ? Buffer.from(data, 'latin1') : Buffer.from(data)
  return iconv.decode(bytes, codePageName(page))
}

function encode(page: number, text: string | string[]): Buffer {
  return iconv.encode(Array.isArray(text) ? text.join('') : text, codePageName(page))
}
