import { isUtf8 } from 'node:buffer'
import { decodeBytes, decodeText, isKnownCharset } from '../charset.js'

/** Headers with parameters are read up to this length; those of mail programs are much shorter. */
const MAX_HEADER_LENGTH = 64 * 1024

/** A header such as `text/plain; charset=utf-8; name="a.txt"`. */
export interface HeaderParameters {
  /** text before the first parameter, in lower case and without comments */
  value: string
  /** undecoded values by name in lower case; the first of each name */
  plain: ReadonlyMap<string, string>
  /** The decoded value of a parameter for people, in any encoding. */
  text(name: string): string | undefined
}

/** A section of a parameter of RFC 2231: `name*0*=…`, `name*1=…` or `name*=…`. */
interface ParameterSection {
  index: number
  encoded: boolean
  text: string
}

/** Parses a header with parameters (RFC 2045, section 5.1), those of RFC 2231 included. Takes linear time. */
export function parseHeaderParameters(header: string): HeaderParameters {
  // Splits at semicolons outside of quotes.
  const [first = '', ...rest] = header.slice(0, MAX_HEADER_LENGTH).match(/(?:[^;"]+|"(?:[^"\\]+|\\[\s\S])*"?)+/g) ?? []
  const plain = new Map<string, string>()
  const sections = new Map<string, ParameterSection[]>()
  for (const piece of rest) {
    const equals = piece.indexOf('=')
    const [, name = '', index, encodedMark] =
      /^([^*]+)(?:\*(\d{1,4}))?(\*)?$/.exec(piece.slice(0, Math.max(0, equals)).trim().toLowerCase()) ?? []
    if (name === '') continue
    const text = unquoteParameter(piece.slice(equals + 1).trim())
    if (index === undefined && encodedMark === undefined) {
      if (!plain.has(name)) plain.set(name, text)
      continue
    }
    const nameSections = sections.get(name) ?? []
    nameSections.push({ index: Number(index ?? 0), encoded: encodedMark !== undefined, text })
    sections.set(name, nameSections)
  }
  return {
    value: (first.split('(', 1)[0] ?? '').trim().toLowerCase(),
    plain,
    text(name) {
      const parts = sections.get(name)
      if (parts !== undefined) return joinSections(parts)
      const text = plain.get(name)
      return text === undefined ? undefined : decodeHeaderWords(text)
    },
  }
}

function unquoteParameter(raw: string): string {
  if (!raw.startsWith('"')) return raw.replace(/[ \t]\([\s\S]*$/, '').trimEnd()
  return (/^"((?:[^"\\]|\\[\s\S])*)/.exec(raw)?.[1] ?? '').replace(/\\([\s\S])/g, '$1')
}

/**
 * Joins and decodes sections such as `utf-8'en'na%20me`, of which the first names the charset (RFC 2231, sections 3 and
 * 4).
 */
function joinSections(sections: readonly ParameterSection[]): string {
  const sorted = [...sections].sort((one, other) => one.index - other.index)
  const [, charset = '', head] =
    /^([^']*)'[^']*'([\s\S]*)$/.exec(sorted[0]?.encoded === true ? sorted[0].text : '') ?? []
  const bytes = sorted.map(({ encoded, text }, index) => {
    const value = index === 0 && head !== undefined ? head : text
    return encoded ? decodeHexEscapes(value, /%([0-9A-Fa-f]{2})/g) : value
  })
  return decodeCharset(Buffer.from(bytes.join(''), 'latin1'), charset)
}

function decodeCharset(bytes: Buffer, charset: string): string {
  return charset === '' ? decodeText(bytes).text : decodeBytes(bytes, charset)
}

/** @param escapePattern an escape with two hexadecimal digits; quoted-printable if absent */
export function decodeHexEscapes(text: string, escapePattern = /=([0-9A-Fa-f]{2})/g): string {
  return text.replace(escapePattern, (_whole, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}

/**
 * Decodes the encoded words of header text (`=?utf-8?Q?…?=`, RFC 2047); raw 8-bit bytes are taken as UTF-8 or Latin.
 * Adjacent words of one charset are joined first: many programs split within a character.
 */
export function decodeHeaderWords(header: string): string {
  const raw = /[\x80-\xff]/.test(header) ? decodeText(joinFoldedBytes(header)).text : header
  return raw
    .replace(/(\?=)\s+(?==\?)/g, '$1')
    .replace(/(?:=\?[\w:.-]{1,40}(?:\*[\w-]{1,20})?\?[bqBQ]\?[^?]*\?=)+/g, (words) => {
      const runs: { charset: string; bytes: Buffer[] }[] = []
      for (const [whole, charset = '', kind, text = ''] of words.matchAll(
        /=\?([\w:.-]+)(?:\*[\w-]+)?\?([bqBQ])\?([^?]*)\?=/g,
      )) {
        const bytes =
          kind?.toLowerCase() === 'b'
            ? Buffer.from(text, 'base64')
            : Buffer.from(decodeHexEscapes(text.replaceAll('_', ' ')), 'latin1')
        const last = runs.at(-1)
        if (!isKnownCharset(charset)) runs.push({ charset: 'utf-8', bytes: [Buffer.from(whole)] })
        else if (last?.charset === charset.toLowerCase()) last.bytes.push(bytes)
        else runs.push({ charset: charset.toLowerCase(), bytes: [bytes] })
      }
      return runs.map(({ charset, bytes }) => decodeBytes(Buffer.concat(bytes), charset)).join('')
    })
}

/** The bytes of a header; some programs fold a line within a character of UTF-8, whose bytes are joined again. */
function joinFoldedBytes(header: string): Buffer {
  const bytes = Buffer.from(header, 'latin1')
  if (isUtf8(bytes)) return bytes
  const joined = Buffer.from(header.replace(/([\xc2-\xf4][\x80-\xbf]{0,2})[ \t]+(?=[\x80-\xbf])/g, '$1'), 'latin1')
  return isUtf8(joined) ? joined : bytes
}
