import { codePoint } from 'dingbat-to-unicode'

/** Symbol fonts have their signs at these code points of the private use area. */
const PRIVATE_START = 0xf000
const PRIVATE_END = 0xf0ff

/** The sign at a code of a symbol font such as Wingdings; undefined for an unknown one. */
export function findSymbol(font: string, code: number): string | undefined {
  const position = code >= PRIVATE_START && code <= PRIVATE_END ? code - PRIVATE_START : code
  const known = codePoint(font, position)?.string
  if (known !== undefined) return known
  return position === code && code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : undefined
}

/** A text with the signs of a symbol font in place of its private characters. */
export function replaceSymbols(text: string, font: string | undefined): string {
  if (font === undefined || !/[\uf000-\uf0ff]/.test(text)) return text
  return text.replace(/[\uf000-\uf0ff]/g, (sign) => findSymbol(font, sign.charCodeAt(0)) ?? sign)
}
