import iconv from 'iconv-lite'
import { decodeText } from './charset.js'

/** Parts within parts, and parts in all; mail programs stay far below. */
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

/** Reads the MIME structure of a message (RFC 2045, 2046), given as Latin-1 so that every byte is one character. */
export function readMime(source: string): MimePart {
  return readPart(source.replace(/\r\n?/g, '\n'), 0, { left: MAX_PARTS })
}

function readPart(source: string, depth: number, budget: { left: number }): MimePart {
  const { headers, body } = splitHeaders(source)
  const contentType = headers.get('content-type') ?? 'text/plain'
  const disposition = headers.get('content-disposition') ?? ''
  const part: MimePart = {
    headers,
    type: contentType.split(';', 1)[0]?.trim().toLowerCase() ?? 'text/plain',
    attachment: /^\s*attachment/i.test(disposition),
    body,
    parts: [],
  }
  const filename = parameter(disposition, 'filename') ?? parameter(contentType, 'name')
  if (filename !== undefined) part.filename = decodeWords(filename)
  const boundary = parameter(contentType, 'boundary')
  if (part.type.startsWith('multipart/') && boundary !== undefined && depth < MAX_DEPTH) {
    for (const piece of pieces(body, boundary)) {
      if (budget.left-- <= 0) break
      part.parts.push(readPart(piece, depth + 1, budget))
    }
  } else if (part.type === 'message/rfc822' && depth < MAX_DEPTH && budget.left-- > 0) {
    part.parts.push(readPart(body, depth + 1, budget))
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

function parameter(header: string, name: string): string | undefined {
  const found = new RegExp(`;\\s*${name}\\s*=\\s*(?:"([^"]*)"|([^\\s;]+))`, 'i').exec(header)
  return found?.[1] ?? found?.[2]
}

function pieces(body: string, boundary: string): string[] {
  const found: string[] = []
  const mark = `--${boundary}`
  let start = -1
  for (let at = body.startsWith(mark) ? 0 : next(body, mark, 0); at !== -1; at = next(body, mark, at + mark.length)) {
    if (start !== -1) found.push(body.slice(start, Math.max(start, at - 1)))
    if (body.startsWith('--', at + mark.length)) return found
    const line = body.indexOf('\n', at)
    if (line === -1) return found
    start = line + 1
  }
  if (start !== -1) found.push(body.slice(start))
  return found
}

function next(body: string, mark: string, from: number): number {
  const at = body.indexOf(`\n${mark}`, from)
  return at === -1 ? -1 : at + 1
}

/** The bytes of a part, its transfer encoding undone. */
export function partBytes(part: MimePart): Buffer {
  const encoding = part.headers.get('content-transfer-encoding')?.toLowerCase() ?? ''
  if (encoding.startsWith('base64')) return Buffer.from(part.body, 'base64')
  if (encoding.startsWith('quoted-printable'))
    return Buffer.from(unquote(part.body.replace(/=[ \t]*\n/g, '')), 'latin1')
  return Buffer.from(part.body, 'latin1')
}

/** The text of a part in its own charset. */
export function partText(part: MimePart): string {
  return decodeText(partBytes(part), parameter(part.headers.get('content-type') ?? '', 'charset')).text
}

function unquote(text: string): string {
  return text.replace(/=([0-9A-Fa-f]{2})/g, (_whole, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}

/** Header text with its encoded words (`=?utf-8?Q?…?=`, RFC 2047) decoded; raw 8-bit bytes are taken as UTF-8 or Latin. */
export function decodeWords(header: string): string {
  const raw = /[\x80-\xff]/.test(header) ? decodeText(Buffer.from(header, 'latin1')).text : header
  return raw
    .replace(/(\?=)\s+(?==\?)/g, '$1')
    .replace(
      /=\?([\w-]{1,40})(?:\*[\w-]{1,20})?\?([bqBQ])\?([^?]*)\?=/g,
      (whole, charset: string, kind: string, text: string) => {
        if (!iconv.encodingExists(charset)) return whole
        const bytes =
          kind.toLowerCase() === 'b'
            ? Buffer.from(text, 'base64')
            : Buffer.from(unquote(text.replaceAll('_', ' ')), 'latin1')
        return iconv.decode(bytes, charset)
      },
    )
}
