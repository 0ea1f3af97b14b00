import { fileLine } from '../inside/file-line.js'
import { ReadError } from '../limits.js'
import { readHtml } from '../markup/html.js'
import type { Block, Parsed, Parser, ParserInput } from '../parsed.js'
import { proseBlocks } from '../text/text.js'
import { compressedRtfBlocks } from './compressed-rtf.js'

/** Attributes of a message and of its attachments (MS-OXTNEF 2.1.3). */
const SUBJECT = 0x00018004
const BODY = 0x0002800c
const MESSAGE_PROPERTIES = 0x00069003
const NEXT_ATTACHMENT = 0x00069002
const ATTACHMENT_TITLE = 0x00018010
const ATTACHMENT_DATA = 0x0006800f
const ATTACHMENT_PROPERTIES = 0x00069005
/** Properties that are read (MS-OXPROPS). */
const PLAIN_BODY = 0x1000
const HTML_BODY = 0x1013
const RTF_BODY = 0x1009
const LONG_NAME = 0x3707
const HEAD = 6
const ATTRIBUTE_HEAD = 9
const CHECKSUM = 2
const MAX_ATTACHMENTS = 10_000
const MAX_PROPERTIES = 10_000
/** Sizes in bytes of the values of some property types; values of other types are preceded by their length. */
const FIXED = new Map([
  [0x0002, 4],
  [0x0003, 4],
  [0x0004, 4],
  [0x0005, 8],
  [0x0006, 8],
  [0x0007, 8],
  [0x000a, 4],
  [0x000b, 4],
  [0x0014, 8],
  [0x0040, 8],
  [0x0048, 16],
])
const MANY = 0x1000
const NAMED = 0x8000
const LONG_TYPES = new Set([0x000d, 0x001e, 0x001f, 0x0102])

interface Attached {
  name: string
  data?: Buffer
}

/**
 * Reads what Outlook sends instead of attachments (TNEF, `winmail.dat`): the text of the message, and its attachments
 * as separate documents.
 */
export const tnefParser: Parser = {
  accepts: (mediaType) => mediaType === 'application/vnd.ms-tnef',
  parse: parseTnef,
}

async function parseTnef({ bytes, filename, inside }: ParserInput): Promise<Parsed> {
  const { subject, blocks, attached } = readAttributes(bytes)
  for (const { name, data = Buffer.alloc(0) } of attached) {
    const outcome = await inside.add({ name, content: data })
    if ('skipped' in outcome) continue
    blocks.push({ type: 'paragraph', text: fileLine('Attachment', name, outcome), metadata: { role: 'attachment' } })
  }
  if (blocks.length === 0)
    throw new ReadError('empty', `${filename} is a message of Outlook without text or attachments`)
  return {
    parser: 'unstructured',
    contentType: 'text',
    ...(subject === '' ? {} : { title: subject }),
    blocks,
    metadata: {},
  }
}

function readAttributes(bytes: Buffer): { subject: string; blocks: Block[]; attached: Attached[] } {
  let subject = ''
  let plain = ''
  let html: Buffer | undefined
  let rtf: Buffer | undefined
  const attached: Attached[] = []
  for (const { id, data } of attributesIn(bytes)) {
    const last = attached.at(-1)
    if (id === SUBJECT) subject = text8(data)
    else if (id === BODY) plain = text8(data)
    else if (id === MESSAGE_PROPERTIES) {
      const found = propertiesIn(data, new Set([PLAIN_BODY, HTML_BODY, RTF_BODY]))
      html = found.get(HTML_BODY)?.value ?? html
      rtf = found.get(RTF_BODY)?.value ?? rtf
      const body = found.get(PLAIN_BODY)
      if (body !== undefined && plain === '') plain = textOf(body)
    } else if (id === NEXT_ATTACHMENT && attached.length < MAX_ATTACHMENTS)
      attached.push({ name: `attachment ${attached.length + 1}` })
    else if (last === undefined) continue
    else if (id === ATTACHMENT_TITLE) last.name = text8(data) || last.name
    else if (id === ATTACHMENT_DATA) last.data = data
    else if (id === ATTACHMENT_PROPERTIES) {
      const name = propertiesIn(data, new Set([LONG_NAME])).get(LONG_NAME)
      if (name !== undefined) last.name = textOf(name) || last.name
    }
  }
  return { subject, blocks: bodyBlocks(plain, html, rtf), attached }
}

/** The text in the first form that exists: HTML, plain text, compressed RTF. */
function bodyBlocks(plain: string, html: Buffer | undefined, rtf: Buffer | undefined): Block[] {
  if (html !== undefined) return readHtml(html.toString('utf8')).blocks
  return plain !== '' || rtf === undefined ? proseBlocks(plain) : compressedRtfBlocks(rtf)
}

function* attributesIn(bytes: Buffer): Generator<{ id: number; data: Buffer }> {
  let at = HEAD
  while (at + ATTRIBUTE_HEAD <= bytes.length) {
    const size = bytes.readUInt32LE(at + 5)
    const start = at + ATTRIBUTE_HEAD
    yield { id: bytes.readUInt32LE(at + 1), data: bytes.subarray(start, Math.min(bytes.length, start + size)) }
    at = start + size + CHECKSUM
  }
}

interface Property {
  isWide: boolean
  value: Buffer
}

/** Finds requested properties of a list. Stops at a type whose length is unknown. */
function propertiesIn(data: Buffer, wanted: ReadonlySet<number>): Map<number, Property> {
  const found = new Map<number, Property>()
  const count = data.length >= 4 ? Math.min(data.readUInt32LE(0), MAX_PROPERTIES) : 0
  let at = 4
  for (let index = 0; index < count && at + 4 <= data.length; index++) {
    const type = data.readUInt16LE(at)
    const id = data.readUInt16LE(at + 2)
    at += 4
    if (id >= NAMED) at = afterName(data, at)
    const fixed = FIXED.get(type & ~MANY)
    const isLong = LONG_TYPES.has(type & ~MANY)
    if (fixed === undefined && !isLong) break
    let values = 1
    if (isLong || (type & MANY) !== 0) {
      if (at + 4 > data.length) break
      values = data.readUInt32LE(at)
      at += 4
    }
    for (let value = 0; value < values && at < data.length; value++) {
      if (fixed !== undefined) {
        at += fixed
        continue
      }
      if (at + 4 > data.length) break
      const size = data.readUInt32LE(at)
      const start = at + 4
      if (wanted.has(id)) found.set(id, { isWide: type === 0x001f, value: data.subarray(start, start + size) })
      at = start + Math.ceil(size / 4) * 4
    }
  }
  return found
}

/** Offset after the name of a property that has one: a number, or a text with its length. */
function afterName(data: Buffer, at: number): number {
  const kind = at + 20
  if (kind + 4 > data.length) return data.length
  const value = data.readUInt32LE(kind - 4)
  return value === 0 ? kind + 4 : kind + 4 + Math.ceil(data.readUInt32LE(kind) / 4) * 4
}

function textOf({ isWide, value }: Property): string {
  return isWide ? value.toString('utf16le').replace(/\0+$/, '').trim() : text8(value)
}

function text8(data: Buffer): string {
  return new TextDecoder('windows-1252').decode(data).replace(/\0+$/, '').trim()
}
