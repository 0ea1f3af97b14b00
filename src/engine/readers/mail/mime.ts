import { decodeText } from '../charset.js'
import { decodeHexEscapes, parseHeaderParameters } from './mime-words.js'

/** Bounds of nested parts and of all parts; mail programs stay far below. */
const MAX_DEPTH = 100
const MAX_PARTS = 20_000

/** One part of a message: its headers (names in lower case, the first of each) and its undecoded body as Latin-1. */
export interface MimePart {
  headers: ReadonlyMap<string, string>
  /** lower case, without parameters */
  type: string
  /** as in `Content-Disposition` or `Content-Type` */
  filename?: string
  attachment: boolean
  body: string
  parts: MimePart[]
}

/**
 * Parses the MIME structure of a message (RFC 2045, 2046), given as Latin-1 so that every byte is one character.
 *
 * @returns the message, and the number of parts beyond the bounds, which are not read
 */
export function parseMime(source: string): { message: MimePart; unreadParts: number } {
  const budget = { remaining: MAX_PARTS, unread: 0 }
  const message = parsePart(source.replace(/\r\n?/g, '\n'), { depth: 0, defaultType: 'text/plain' }, budget)
  return { message, unreadParts: budget.unread }
}

/** @param context `defaultType`: the type of a part that declares none */
function parsePart(
  source: string,
  context: { depth: number; defaultType: string },
  budget: { remaining: number; unread: number },
): MimePart {
  const { headers, body } = splitHeaders(source)
  const contentType = parseHeaderParameters(headers.get('content-type') ?? context.defaultType)
  const disposition = parseHeaderParameters(headers.get('content-disposition') ?? '')
  const part: MimePart = {
    headers,
    type: contentType.value === '' ? context.defaultType : contentType.value,
    attachment: disposition.value === 'attachment',
    body,
    parts: [],
  }
  const filename = disposition.text('filename') ?? contentType.text('name')
  if (filename !== undefined) part.filename = filename
  const boundary = contentType.plain.get('boundary')
  const depth = context.depth + 1
  const isContainer = part.type === 'message/rfc822' || (part.type.startsWith('multipart/') && boundary !== undefined)
  if (!isContainer) return part
  if (depth > MAX_DEPTH || budget.remaining <= 0) {
    budget.unread++
    return part
  }
  if (part.type.startsWith('multipart/') && boundary !== undefined) {
    const defaultType = part.type === 'multipart/digest' ? 'message/rfc822' : 'text/plain'
    for (const piece of splitParts(body, boundary)) {
      if (budget.remaining-- > 0) part.parts.push(parsePart(piece, { depth, defaultType }, budget))
      else budget.unread++
    }
  } else {
    budget.remaining--
    part.parts.push(
      parsePart(
        decodePartBytes(part).toString('latin1').replace(/\r\n?/g, '\n'),
        { depth, defaultType: 'text/plain' },
        budget,
      ),
    )
  }
  return part
}

function splitHeaders(source: string): { headers: Map<string, string>; body: string } {
  const headers = new Map<string, string>()
  const start = source.startsWith('\n') ? 0 : source.indexOf('\n\n')
  const head = start === -1 ? source : source.slice(0, start)
  for (const line of head.replace(/\n[ \t]+/g, ' ').split('\n')) {
    const colon = line.indexOf(':')
    if (colon <= 0) continue
    const name = line.slice(0, colon).trim().toLowerCase()
    if (!headers.has(name)) headers.set(name, line.slice(colon + 1).trim())
  }
  return { headers, body: start === -1 ? '' : source.slice(start).replace(/^\n{1,2}/, '') }
}

/** The texts between lines that are the boundary and nothing else; a line that only begins with it is text. */
function splitParts(body: string, boundary: string): string[] {
  const contents: string[] = []
  const delimiter = `--${boundary.trimEnd()}`
  let start = -1
  for (
    let offset = body.startsWith(delimiter) ? 0 : findDelimiter(body, delimiter, 0);
    offset !== -1;
    offset = findDelimiter(body, delimiter, offset + 1)
  ) {
    const lineEnd = body.indexOf('\n', offset)
    const rest = body.slice(offset + delimiter.length, lineEnd === -1 ? undefined : lineEnd).trimEnd()
    if (rest !== '' && rest !== '--') continue
    if (start !== -1) contents.push(body.slice(start, Math.max(start, offset - 1)))
    if (rest === '--' || lineEnd === -1) return contents
    start = lineEnd + 1
  }
  if (start !== -1) contents.push(body.slice(start))
  return contents
}

function findDelimiter(body: string, delimiter: string, start: number): number {
  const offset = body.indexOf(`\n${delimiter}`, start)
  return offset === -1 ? -1 : offset + 1
}

/** The bytes of a part, its transfer encoding decoded. */
export function decodePartBytes(part: MimePart): Buffer {
  const encoding = part.headers.get('content-transfer-encoding')?.toLowerCase() ?? ''
  if (encoding.startsWith('base64')) return Buffer.from(part.body, 'base64')
  if (encoding.startsWith('quoted-printable'))
    return Buffer.from(decodeHexEscapes(part.body.replace(/=[ \t]*\n/g, '')), 'latin1')
  return Buffer.from(part.body, 'latin1')
}

/** The charset that a part declares. */
export function getPartCharset(part: MimePart): string | undefined {
  return parseHeaderParameters(part.headers.get('content-type') ?? '').plain.get('charset')
}

/** The text of a part, decoded from its charset. */
export function decodePartText(part: MimePart): string {
  return decodeText(decodePartBytes(part), getPartCharset(part)).text
}
