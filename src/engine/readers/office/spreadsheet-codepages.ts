import { set_cptable } from '@e965/xlsx'
import iconv from 'iconv-lite'
import { toEncodingName } from '../code-pages.js'

/**
 * Makes the library decode code pages of old workbooks with iconv-lite, in place of its own tables of half a megabyte.
 */
export function installCodePages(): void {
  set_cptable({ utils: { decode, encode, hascp: () => true } })
}

function decode(page: number, data: string | number[] | Uint8Array): string {
  const bytes = typeof data === 'string' ? Buffer.from(data, 'latin1') : Buffer.from(data)
  return iconv.decode(bytes, toEncodingName(page))
}

function encode(page: number, text: string | string[]): Buffer {
  return iconv.encode(Array.isArray(text) ? text.join('') : text, toEncodingName(page))
}
