import { decodeBytes, decodeText } from '../charset.js'

/** Content lines of calendars and cards (RFC 5545 3.1, RFC 6350 3.2). */

export interface ContentLine {
  name: string
  /** parameters by name in capitals; values are unchanged */
  parameters: ReadonlyMap<string, string>
  value: string
}

/** The warning about fields that are not read; none without such fields. */
export function toFieldWarnings(names: ReadonlySet<string>): { warnings?: string[] } {
  if (names.size === 0) return {}
  return { warnings: [`fields that are not read: ${[...names].slice(0, MAX_LISTED_FIELDS).join(', ')}`] }
}

/** Whether the value of a field may have words; a picture, key or number has none. */
export function hasWords({ value, parameters }: ContentLine): boolean {
  return /\p{L}{2}/u.test(value) && !/^b(?:ase64)?$/i.test(parameters.get('ENCODING') ?? '') && !/^data:/i.test(value)
}

const MAX_LISTED_FIELDS = 20
/** Longer values are pictures and keys, not text. */
const MAX_VALUE_LENGTH = 100_000

/**
 * Reads the content lines of a file, with folded lines joined before they are decoded: a fold may be within a
 * character. Skips lines that are none.
 *
 * @param charset declared by a header; absent: that of the bytes
 */
export function* readContentLines(bytes: Buffer, charset?: string): Generator<ContentLine> {
  // ASCII codes in pairs of bytes can only be found in the decoded text.
  const { text: decoded, encoding: rawEncoding } = decodeText(bytes, charset)
  const isWide = rawEncoding.startsWith('utf-16') || rawEncoding.startsWith('utf-32')
  const text = (isWide ? Buffer.from(decoded) : bytes).toString('latin1').replace(/^\xef\xbb\xbf/, '')
  const unfolded = text.replace(/\r?\n[ \t]/g, '')
  const encoding = isWide ? 'utf-8' : decodeText(Buffer.from(unfolded, 'latin1'), charset).encoding
  let parts: string[] = []
  let isQuotedPrintable = false
  let start = 0
  while (start <= text.length) {
    const newline = text.indexOf('\n', start)
    const end = newline === -1 ? text.length : newline
    const line = text.slice(start, text.charCodeAt(end - 1) === 13 ? end - 1 : end)
    start = end + 1
    const continues = parts.length > 0 && (/^[ \t]/.test(line) || isQuotedPrintable)
    if (!continues && parts.length > 0) {
      const contentLine = parseContentLine(parts.join(''), encoding)
      if (contentLine !== undefined) yield contentLine
      parts = []
    }
    // Old cards end a continued line with `=`, as quoted-printable does.
    parts.push(continues && !isQuotedPrintable ? line.slice(1) : line)
    isQuotedPrintable = line.endsWith('=') && (isQuotedPrintable || /;(?:ENCODING=)?QUOTED-PRINTABLE[:;]/i.test(line))
  }
  const last = parseContentLine(parts.join(''), encoding)
  if (last !== undefined) yield last
}

/** Parses one line. @param bytes as Latin-1 @param encoding of the file; a parameter of the line overrides it */
function parseContentLine(bytes: string, encoding: string): ContentLine | undefined {
  const declared = /^[^:]{0,300};CHARSET="?([\w.:-]{2,40})/i.exec(bytes)?.[1]
  const line = /[\x80-\xff]/.test(bytes) ? decodeLine(Buffer.from(bytes, 'latin1'), encoding, declared) : bytes

  const colon = findValueColon(line)
  if (colon <= 0 || line.length - colon > MAX_VALUE_LENGTH) return undefined
  const [name = '', ...rest] = line.slice(0, colon).split(';')
  const parameters = new Map<string, string>()
  for (const part of rest.slice(0, 50)) {
    const equals = part.indexOf('=')
    // The first versions of cards give a type without a name.
    const key = equals === -1 ? 'TYPE' : part.slice(0, equals).toUpperCase()
    const parameterValue = part.slice(equals + 1).replace(/^"|"$/g, '')
    parameters.set(key, parameters.has(key) ? `${parameters.get(key)},${parameterValue}` : parameterValue)
  }
  const raw = line.slice(colon + 1)
  const isEncoded =
    /^quoted-printable$/i.test(parameters.get('ENCODING') ?? '') ||
    /quoted-printable/i.test(parameters.get('TYPE') ?? '')
  // a card may group its lines: `item1.TEL`
  return {
    name: name
      .slice(name.lastIndexOf('.') + 1)
      .trim()
      .toUpperCase(),
    parameters,
    value: isEncoded ? decodeQuotedPrintable(raw, declared) : raw,
  }
}

function decodeLine(bytes: Buffer, encoding: string, declared: string | undefined): string {
  return declared === undefined ? decodeBytes(bytes, encoding) : decodeText(bytes, declared).text
}

/** Offset of the colon before the value; colons in quotes are part of a parameter. */
function findValueColon(line: string): number {
  let inQuotes = false
  for (let offset = 0; offset < Math.min(line.length, 4000); offset++) {
    const char = line.charAt(offset)
    if (char === '"') inQuotes = !inQuotes
    else if (char === ':' && !inQuotes) return offset
  }
  return -1
}

function decodeQuotedPrintable(value: string, charset: string | undefined): string {
  const bytes = value
    .replace(/=(?=$|[^0-9A-Fa-f])/g, '')
    .replace(/=([0-9A-Fa-f]{2})/g, (_whole, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return decodeText(Buffer.from(bytes, 'latin1'), charset).text
}

export function unescapeValue(value: string): string {
  return value.replace(/\\([\\;,nN])/g, (_whole, char: string) => (char === 'n' || char === 'N' ? '\n' : char)).trim()
}

/** The parts of a value with several, without empty ones. */
export function splitValue(value: string): string[] {
  return value
    .split(/(?<!\\)[;,]/)
    .map(unescapeValue)
    .filter((part) => part !== '')
}
