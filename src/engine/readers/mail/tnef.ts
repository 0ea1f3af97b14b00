import { decodeText } from '../charset.js'
import { toEncodingName } from '../code-pages.js'
import { formatFileLine } from '../inside/file-line.js'
import { ReadError } from '../limits.js'
import { readHtml } from '../markup/html.js'
import type { Block, ParsedDocument, Parser, ParserInput } from '../parsed.js'
import { readProseBlocks } from '../text/text.js'
import { readCompressedRtf } from './compressed-rtf.js'

/** Attributes of a message and of its attachments (MS-OXTNEF 2.1.3). */
const SUBJECT = 0x00018004
const BODY = 0x0002800c
const MESSAGE_PROPERTIES = 0x00069003
const NEXT_ATTACHMENT = 0x00069002
const ATTACHMENT_TITLE = 0x00018010
const ATTACHMENT_DATA = 0x0006800f
const ATTACHMENT_PROPERTIES = 0x00069005
const CODE_PAGE = 0x00069007
/** Properties that are read (MS-OXPROPS). */
const PLAIN_BODY = 0x1000
const HTML_BODY = 0x1013
const RTF_BODY = 0x1009
const INTERNET_CODE_PAGE = 0x3fde
const LONG_NAME = 0x3707
const FILE_HEADER_BYTES = 6
const ATTRIBUTE_HEADER_BYTES = 9
const CHECKSUM_BYTES = 2
const MAX_ATTACHMENTS = 10_000
const MAX_PROPERTIES = 10_000
/** Sizes in bytes of the values of some property types; values of other types are preceded by their length. */
const FIXED_SIZES = new Map([
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
const MULTI_VALUE_FLAG = 0x1000
const FIRST_NAMED_ID = 0x8000
const VARIABLE_SIZE_TYPES = new Set([0x000d, 0x001e, 0x001f, 0x0102])

interface TnefAttachment {
  name: string
  data?: Buffer
}

/**
 * Reads what Outlook sends instead of attachments (TNEF, `winmail.dat`): the text of the message, and its attachments
 * as separate documents.
 */
export const tnefParser: Parser = {
  parse: parseTnef,
}

async function parseTnef({ bytes, filename, inside: containedFiles }: ParserInput): Promise<ParsedDocument> {
  const { subject, blocks, attachments } = readMessage(bytes)
  for (const { name, data = Buffer.alloc(0) } of attachments) {
    const outcome = await containedFiles.add({ name, content: data })
    blocks.push({
      type: 'paragraph',
      text: formatFileLine('Attachment', name, outcome),
      metadata: { role: 'attachment' },
    })
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

function readMessage(bytes: Buffer): { subject: string; blocks: Block[]; attachments: TnefAttachment[] } {
  let subject = ''
  let plain = ''
  let html: Buffer | undefined
  let rtf: Buffer | undefined
  let charset: string | undefined
  let htmlCharset: string | undefined
  const attachments: TnefAttachment[] = []
  for (const { id, data } of iterateAttributes(bytes)) {
    const last = attachments.at(-1)
    if (id === CODE_PAGE && data.length >= 4) charset = toEncodingName(data.readUInt32LE())
    else if (id === SUBJECT) subject = decodeAnsi(data, charset)
    else if (id === BODY) plain = decodeAnsi(data, charset)
    else if (id === MESSAGE_PROPERTIES) {
      const found = findProperties(data, new Set([PLAIN_BODY, HTML_BODY, RTF_BODY, INTERNET_CODE_PAGE]))
      html = found.get(HTML_BODY)?.value ?? html
      rtf = found.get(RTF_BODY)?.value ?? rtf
      const page = found.get(INTERNET_CODE_PAGE)?.value
      if (page !== undefined && page.length >= 4) htmlCharset = toEncodingName(page.readUInt32LE())
      const body = found.get(PLAIN_BODY)
      if (body !== undefined && plain === '') plain = decodeProperty(body, charset)
    } else if (id === NEXT_ATTACHMENT && attachments.length < MAX_ATTACHMENTS)
      attachments.push({ name: `attachment ${attachments.length + 1}` })
    else if (last === undefined) continue
    else if (id === ATTACHMENT_TITLE) last.name = decodeAnsi(data, charset) || last.name
    else if (id === ATTACHMENT_DATA) last.data = data
    else if (id === ATTACHMENT_PROPERTIES) {
      const name = findProperties(data, new Set([LONG_NAME])).get(LONG_NAME)
      if (name !== undefined) last.name = decodeProperty(name, charset) || last.name
    }
  }
  const htmlText = html === undefined ? undefined : decodeText(html, htmlCharset).text
  return { subject, blocks: toBodyBlocks(plain, htmlText, rtf), attachments }
}

/** The text in the first form that exists: HTML, plain text, compressed RTF. */
function toBodyBlocks(plain: string, html: string | undefined, rtf: Buffer | undefined): Block[] {
  if (html !== undefined) return readHtml(html).blocks
  return plain !== '' || rtf === undefined ? readProseBlocks(plain) : readCompressedRtf(rtf)
}

function* iterateAttributes(bytes: Buffer): Generator<{ id: number; data: Buffer }> {
  let offset = FILE_HEADER_BYTES
  while (offset + ATTRIBUTE_HEADER_BYTES <= bytes.length) {
    const size = bytes.readUInt32LE(offset + 5)
    const start = offset + ATTRIBUTE_HEADER_BYTES
    yield { id: bytes.readUInt32LE(offset + 1), data: bytes.subarray(start, Math.min(bytes.length, start + size)) }
    offset = start + size + CHECKSUM_BYTES
  }
}

interface TnefProperty {
  isWide: boolean
  value: Buffer
}

/** Finds requested properties of a list. Stops at a type whose length is unknown. */
function findProperties(data: Buffer, requestedIds: ReadonlySet<number>): Map<number, TnefProperty> {
  const found = new Map<number, TnefProperty>()
  const count = data.length >= 4 ? Math.min(data.readUInt32LE(0), MAX_PROPERTIES) : 0
  let offset = 4
  for (let index = 0; index < count && offset + 4 <= data.length; index++) {
    const type = data.readUInt16LE(offset)
    const id = data.readUInt16LE(offset + 2)
    offset += 4
    if (id >= FIRST_NAMED_ID) offset = skipPropertyName(data, offset)
    const fixedSize = FIXED_SIZES.get(type & ~MULTI_VALUE_FLAG)
    const hasVariableSize = VARIABLE_SIZE_TYPES.has(type & ~MULTI_VALUE_FLAG)
    if (fixedSize === undefined && !hasVariableSize) break
    let values = 1
    if (hasVariableSize || (type & MULTI_VALUE_FLAG) !== 0) {
      if (offset + 4 > data.length) break
      values = data.readUInt32LE(offset)
      offset += 4
    }
    for (let value = 0; value < values && offset < data.length; value++) {
      if (fixedSize !== undefined) {
        if (requestedIds.has(id)) found.set(id, { isWide: false, value: data.subarray(offset, offset + fixedSize) })
        offset += fixedSize
        continue
      }
      if (offset + 4 > data.length) break
      const size = data.readUInt32LE(offset)
      const start = offset + 4
      if (requestedIds.has(id)) found.set(id, { isWide: type === 0x001f, value: data.subarray(start, start + size) })
      offset = start + Math.ceil(size / 4) * 4
    }
  }
  return found
}

/** Offset after the name of a property that has one: a number, or a text with its length. */
function skipPropertyName(data: Buffer, offset: number): number {
  const kindOffset = offset + 20
  if (kindOffset + 4 > data.length) return data.length
  const value = data.readUInt32LE(kindOffset - 4)
  return value === 0 ? kindOffset + 4 : kindOffset + 4 + Math.ceil(data.readUInt32LE(kindOffset) / 4) * 4
}

function decodeProperty({ isWide, value }: TnefProperty, charset: string | undefined): string {
  return isWide ? value.toString('utf16le').replace(/\0+$/, '').trim() : decodeAnsi(value, charset)
}

function decodeAnsi(data: Buffer, charset: string | undefined): string {
  return decodeText(data, charset).text.replace(/\0+$/, '').trim()
}
