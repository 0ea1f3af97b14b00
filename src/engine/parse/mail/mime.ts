import { decodeText } from '../charset.js'
import { readParameters, unquote } from './mime-words.js'

/** Bounds of nested parts and of all parts; mail programs stay far below. */
const MAX_DEPTH = 10
const MAX_PARTS = 1000

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

/** Parses the MIME structure of a message (RFC 2045, 2046), given as Latin-1 so that every byte is one character. */
export function readMime(source: string): MimePart {
  return readPart(source.replace(/\r\n?/g, '\n'), { depth: 0, usual: 'text/plain' }, { left: MAX_PARTS })
}

/** @param context `usual`: the type of a part that declares none */
function readPart(source: string, place: { depth: number; usual: string }, budget: { left: number }): MimePart {
  const { headers, body } = splitHeaders(source)
  const contentType = readParameters(headers.get('content-type') ?? place.usual)
  const disposition = readParameters(headers.get('content-disposition') ?? '')
  const part: MimePart = {
    headers,
    type: contentType.value === '' ? place.usual : contentType.value,
    attachment: disposition.value === 'attachment',
    body,
    parts: [],
  }
  const filename = disposition.text('filename') ?? contentType.text('name')
  if (filename !== undefined) part.filename = filename
  const boundary = contentType.plain.get('boundary')
  const depth = place.depth + 1
  if (depth > MAX_DEPTH) return part
  if (part.type.startsWith('multipart/') && boundary !== undefined) {
    const usual = part.type === 'multipart/digest' ? 'message/rfc822' : 'text/plain'
    for (const piece of pieces(body, boundary)) {
      if (budget.left-- <= 0) break
      part.parts.push(readPart(piece, { depth, usual }, budget))
    }
  } else if (part.type === 'message/rfc822' && budget.left-- > 0) {
    part.parts.push(
      readPart(partBytes(part).toString('latin1').replace(/\r\n?/g, '\n'), { depth, usual: 'text/plain' }, budget),
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
function pieces(body: string, boundary: string): string[] {
  const found: string[] = []
  const mark = `--${boundary.trimEnd()}`
  let start = -1
  for (let at = body.startsWith(mark) ? 0 : next(body, mark, 0); at !== -1; at = next(body, mark, at + 1)) {
    const lineEnd = body.indexOf('\n', at)
    const rest = body.slice(at + mark.length, lineEnd === -1 ? undefined : lineEnd).trimEnd()
    if (rest !== '' && rest !== '--') continue
    if (start !== -1) found.push(body.slice(start, Math.max(start, at - 1)))
    if (rest === '--' || lineEnd === -1) return found
    start = lineEnd + 1
  }
  if (start !== -1) found.push(body.slice(start))
  return found
}

function next(body: string, mark: string, from: number): number {
  const at = body.indexOf(`\n${mark}`, from)
  return at === -1 ? -1 : at + 1
}

/** The bytes of a part, its transfer encoding decoded. */
export function partBytes(part: MimePart): Buffer {
  const encoding = part.headers.get('content-transfer-encoding')?.toLowerCase() ?? ''
  if (encoding.startsWith('base64')) return Buffer.from(part.body, 'base64')
  if (encoding.startsWith('quoted-printable'))
    return Buffer.from(unquote(part.body.replace(/=[ \t]*\n/g, '')), 'latin1')
  return Buffer.from(part.body, 'latin1')
}

/** The text of a part, decoded from its charset. */
export function partText(part: MimePart): string {
  return decodeText(partBytes(part), readParameters(part.headers.get('content-type') ?? '').plain.get('charset')).text
}
