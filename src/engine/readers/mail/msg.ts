import { decodeText } from '../charset.js'
import { toEncodingName } from '../code-pages.js'
import { formatFileLine } from '../inside/file-line.js'
import { ReadError } from '../limits.js'
import { readHtml } from '../markup/html.js'
import { readCompound } from '../office/compound.js'
import type { Block, ParsedDocument, Parser, ParserInput } from '../parsed.js'
import { readProseBlocks } from '../text/text.js'
import { readCompressedRtf } from './compressed-rtf.js'

import { toMailFields } from './mail-fields.js'

/** Properties of a message and of an attachment (MS-OXPROPS), by hexadecimal number. */
const SUBJECT = '0037'
const SENDER_NAME = '0C1A'
const SENDER_ADDRESSES = ['5D01', '0C1F']
const TO = '0E04'
const CC = '0E03'
const HEADERS = '007D'
const BODY = '1000'
const HTML = '1013'
const RTF = '1009'
const ATTACHMENT_NAMES = ['3707', '3704']
const ATTACHMENT_DATA = '3701'
const ATTACHMENT_TYPE = '370E'
const CONTENT_ID = '3712'
/** Numbers of properties with a value of fixed size. */
const MESSAGE_CODE_PAGE = 0x3ffd
const INTERNET_CODE_PAGE = 0x3fde
const SENT_TIMES = [0x0039, 0x0e06, 0x3007]
const UTF16_CODE_PAGE = 1200
const PROPERTY_STREAM = '__properties_version1.0'
/** Bytes before the properties of a file and of a message in an attachment (MS-OXMSG 2.4.1). */
const FILE_HEADER_BYTES = 32
const EMBEDDED_HEADER_BYTES = 24
const PROPERTY_BYTES = 16
/** Milliseconds from 1601, where Windows begins to count, to 1970. */
const WINDOWS_EPOCH_MS = 11_644_473_600_000
/** prefix of the streams of an attachment that is another message */
const EMBEDDED_PREFIX = '__substg1.0_3701000D/'
/** Maximum depth of messages within messages; mail programs nest a few. */
const MAX_DEPTH = 5
const ATTACHMENT_FOLDER = /^__attach_version1\.0_#[0-9A-Fa-f]{8}\//

/** Types of properties with text: UTF-16, and bytes in a code page. */
const UNICODE = '001F'
const STRING8 = '001E'
const BINARY = '0102'

/** Reads messages of Outlook as `eml.ts` reads other mail; messages in them are part of their text. */
export const msgParser: Parser = {
  parse: parseMsg,
}

async function parseMsg({ bytes, filename, inside: containedFiles }: ParserInput): Promise<ParsedDocument> {
  const streams = readCompound(bytes, filename)
  const attachments: OutlookAttachment[] = []
  const message: OutlookMessage = { streams, prefix: '' }
  const blocks = toMessageBlocks(message, attachments, 0)
  for (const { name, mediaType, content } of attachments) {
    const outcome = await containedFiles.add({ name, ...(mediaType === '' ? {} : { mediaType }), content })
    blocks.push({ type: 'paragraph', text: formatFileLine('Attachment', name, outcome) })
  }
  if (blocks.length === 0) throw new ReadError('empty', `${filename} has no text`)
  const subject = readProperty(message, SUBJECT)
  return {
    parser: 'unstructured',
    contentType: 'text',
    ...(subject === '' ? {} : { title: subject }),
    blocks,
    metadata: {},
    declared: toMailFields(findSentDate(message), readProperty(message, SENDER_NAME)),
  }
}

/** A message in the streams of a file: the file itself, or one in an attachment. */
interface OutlookMessage {
  streams: ReadonlyMap<string, Buffer>
  /** prefix of the names of its streams */
  prefix: string
}

interface OutlookAttachment {
  name: string
  mediaType: string
  content: Buffer
}

function toMessageBlocks(message: OutlookMessage, attachments: OutlookAttachment[], depth: number): Block[] {
  const blocks = [...toHeaderBlocks(message), ...toBodyBlocks(message)]
  for (const folder of listAttachmentFolders(message)) {
    const file = { ...message, prefix: message.prefix + folder }
    const inner = { ...message, prefix: file.prefix + EMBEDDED_PREFIX }
    const name = readFirstProperty(file, ATTACHMENT_NAMES)
    const content = message.streams.get(`${file.prefix}__substg1.0_${ATTACHMENT_DATA}${BINARY}`)
    const mediaType = readProperty(file, ATTACHMENT_TYPE).toLowerCase()
    if (content === undefined) {
      if (name !== '') blocks.push({ type: 'paragraph', text: `Attachment: ${name}` })
      if (depth < MAX_DEPTH) blocks.push(...toMessageBlocks(inner, attachments, depth + 1))
    } else if (mediaType.startsWith('image/') && readProperty(file, CONTENT_ID) !== '')
      blocks.push({ type: 'image', text: name, picture: { bytes: new Uint8Array(content) } })
    else attachments.push({ name: name === '' ? 'attachment' : name, mediaType, content })
  }
  return blocks
}

function listAttachmentFolders({ streams, prefix }: OutlookMessage): Set<string> {
  const folders = new Set<string>()
  for (const path of streams.keys()) {
    const folder = path.startsWith(prefix) ? ATTACHMENT_FOLDER.exec(path.slice(prefix.length))?.[0] : undefined
    if (folder !== undefined) folders.add(folder)
  }
  return folders
}

function toHeaderBlocks(message: OutlookMessage): Block[] {
  const name = readProperty(message, SENDER_NAME)
  const address = readFirstProperty(message, SENDER_ADDRESSES)
  // Within one organisation an address may be a directory path, which means nothing to readers.
  const sender = address.includes('@') && address !== name ? [name, `<${address}>`].join(' ').trim() : name
  const date = findSentDate(message)
  const lines = [
    ['From', sender],
    ['To', readProperty(message, TO)],
    ['Cc', readProperty(message, CC)],
    ['Date', date],
    ['Subject', readProperty(message, SUBJECT)],
  ].flatMap(([label, value]) => (value === undefined || value === '' ? [] : [`${label}: ${value}`]))
  return lines.length === 0 ? [] : [{ type: 'list', text: lines.join('\n') }]
}

/** The date from the headers, else the time at which it was sent, delivered or written; empty where there is none. */
function findSentDate(message: OutlookMessage): string {
  const date = /^Date:[ \t]*(.+)$/im.exec(readProperty(message, HEADERS).slice(0, 100_000))?.[1]?.trim()
  if (date !== undefined) return date
  for (const property of SENT_TIMES) {
    const time = readFixedProperty(message, property)?.readBigUInt64LE()
    const sent = new Date(Number((time ?? 0n) / 10_000n) - WINDOWS_EPOCH_MS)
    if (time !== undefined && time > 0n && !Number.isNaN(sent.getTime())) return sent.toISOString()
  }
  return ''
}

/** The eight bytes of a property with a value of fixed size. */
function readFixedProperty({ streams, prefix }: OutlookMessage, property: number): Buffer | undefined {
  const stream = streams.get(`${prefix}${PROPERTY_STREAM}`) ?? Buffer.alloc(0)
  const header = prefix === '' ? FILE_HEADER_BYTES : EMBEDDED_HEADER_BYTES
  for (let offset = header; offset + PROPERTY_BYTES <= stream.length; offset += PROPERTY_BYTES)
    if (stream.readUInt16LE(offset + 2) === property) return stream.subarray(offset + 8, offset + PROPERTY_BYTES)
  return undefined
}

/** The encoding of texts that are not Unicode; undefined where the message declares none. */
function findCodePage(message: OutlookMessage, properties: readonly number[]): string | undefined {
  const pages = properties.map((property) => readFixedProperty(message, property)?.readUInt32LE())
  const page = pages.find((candidate) => candidate !== undefined && candidate > 0 && candidate !== UTF16_CODE_PAGE)
  return page === undefined ? undefined : toEncodingName(page)
}

function toBodyBlocks(message: OutlookMessage): Block[] {
  const plain = readProperty(message, BODY)
  if (plain !== '') return readProseBlocks(plain)
  const html = readProperty(message, HTML)
  if (html !== '') return readHtml(html).blocks
  const rtf = message.streams.get(`${message.prefix}__substg1.0_${RTF}${BINARY}`)
  return rtf === undefined ? [] : readCompressedRtf(rtf)
}

function readFirstProperty(message: OutlookMessage, properties: string[]): string {
  for (const property of properties) {
    const text = readProperty(message, property)
    if (text !== '') return text
  }
  return ''
}

/** The text of a property of a message or of one of its folders; empty where there is none. */
function readProperty(message: OutlookMessage, property: string): string {
  const { streams, prefix } = message
  const name = `${prefix}__substg1.0_${property}`
  const unicode = streams.get(`${name}${UNICODE}`)
  if (unicode !== undefined) return trimText(unicode.toString('utf16le'))
  const ansi = streams.get(`${name}${STRING8}`)
  if (ansi !== undefined)
    return trimText(decodeText(ansi, findCodePage(message, [MESSAGE_CODE_PAGE, INTERNET_CODE_PAGE])).text)
  const binary = streams.get(`${name}${BINARY}`)
  return binary === undefined ? '' : trimText(decodeText(binary, findCodePage(message, [INTERNET_CODE_PAGE])).text)
}

function trimText(text: string): string {
  return text.replace(/\0+$/, '').trim()
}
