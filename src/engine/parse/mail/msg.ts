import { decodeText } from '../charset.js'
import { fileLine } from '../inside/file-line.js'
import { ReadError } from '../limits.js'
import { readHtml } from '../markup/html.js'
import { readCompound } from '../office/compound.js'
import type { Block, Parsed, Parser, ParserInput } from '../parsed.js'
import { proseBlocks } from '../text/text.js'
import { compressedRtfBlocks } from './compressed-rtf.js'

import { mailFields } from './mail-fields.js'

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
/** prefix of the streams of an attachment that is another message */
const EMBEDDED = '__substg1.0_3701000D/'
/** Maximum depth of messages within messages; mail programs nest a few. */
const MAX_DEPTH = 5
const ATTACHMENT_FOLDER = /^__attach_version1\.0_#[0-9A-Fa-f]{8}\//

/** Types of properties with text: UTF-16, and bytes in a code page. */
const UNICODE = '001F'
const STRING8 = '001E'
const BINARY = '0102'

/** Reads messages of Outlook as `eml.ts` reads other mail; messages in them are part of their text. */
export const msgParser: Parser = {
  accepts: (mediaType) => mediaType === 'application/vnd.ms-outlook',
  parse: parseMsg,
}

async function parseMsg({ bytes, filename, inside }: ParserInput): Promise<Parsed> {
  const streams = readCompound(bytes, filename)
  const attachments: Attachment[] = []
  const message: Message = { streams, at: '' }
  const blocks = messageBlocks(message, attachments, 0)
  for (const { name, mediaType, content } of attachments) {
    const outcome = await inside.add({ name, ...(mediaType === '' ? {} : { mediaType }), content })
    blocks.push({ type: 'paragraph', text: fileLine('Attachment', name, outcome) })
  }
  if (blocks.length === 0) throw new ReadError('empty', `${filename} has no text`)
  const subject = textOf(message, SUBJECT)
  return {
    parser: 'unstructured',
    contentType: 'text',
    ...(subject === '' ? {} : { title: subject }),
    blocks,
    metadata: {},
    declared: mailFields(sentAt(message), textOf(message, SENDER_NAME)),
  }
}

/** A message in the streams of a file: the file itself, or one in an attachment. */
interface Message {
  streams: ReadonlyMap<string, Buffer>
  /** prefix of the names of its streams */
  at: string
}

interface Attachment {
  name: string
  mediaType: string
  content: Buffer
}

function messageBlocks(message: Message, attachments: Attachment[], depth: number): Block[] {
  const blocks = [...headBlocks(message), ...bodyBlocks(message)]
  for (const folder of attachmentFolders(message)) {
    const file = { ...message, at: message.at + folder }
    const inner = { ...message, at: file.at + EMBEDDED }
    const name = first(file, ATTACHMENT_NAMES)
    const content = message.streams.get(`${file.at}__substg1.0_${ATTACHMENT_DATA}${BINARY}`)
    const mediaType = textOf(file, ATTACHMENT_TYPE).toLowerCase()
    if (content === undefined) {
      if (name !== '') blocks.push({ type: 'paragraph', text: `Attachment: ${name}` })
      if (depth < MAX_DEPTH) blocks.push(...messageBlocks(inner, attachments, depth + 1))
    } else if (mediaType.startsWith('image/') && textOf(file, CONTENT_ID) !== '')
      blocks.push({ type: 'image', text: name, picture: { bytes: new Uint8Array(content) } })
    else attachments.push({ name: name === '' ? 'attachment' : name, mediaType, content })
  }
  return blocks
}

function attachmentFolders({ streams, at }: Message): Set<string> {
  const folders = new Set<string>()
  for (const path of streams.keys()) {
    const folder = path.startsWith(at) ? ATTACHMENT_FOLDER.exec(path.slice(at.length))?.[0] : undefined
    if (folder !== undefined) folders.add(folder)
  }
  return folders
}

function headBlocks(message: Message): Block[] {
  const name = textOf(message, SENDER_NAME)
  const address = first(message, SENDER_ADDRESSES)
  // Within one organisation an address may be a directory path, which means nothing to readers.
  const shown = address.includes('@') && address !== name ? [name, `<${address}>`].join(' ').trim() : name
  const date = sentAt(message)
  const lines = [
    ['From', shown],
    ['To', textOf(message, TO)],
    ['Cc', textOf(message, CC)],
    ['Date', date],
    ['Subject', textOf(message, SUBJECT)],
  ].flatMap(([label, value]) => (value === undefined || value === '' ? [] : [`${label}: ${value}`]))
  return lines.length === 0 ? [] : [{ type: 'list', text: lines.join('\n') }]
}

/** The date from the headers; empty where there is none. */
function sentAt(message: Message): string {
  return /^Date:[ \t]*(.+)$/im.exec(textOf(message, HEADERS).slice(0, 100_000))?.[1]?.trim() ?? ''
}

function bodyBlocks(message: Message): Block[] {
  const plain = textOf(message, BODY)
  if (plain !== '') return proseBlocks(plain)
  const html = textOf(message, HTML)
  if (html !== '') return readHtml(html).blocks
  const rtf = message.streams.get(`${message.at}__substg1.0_${RTF}${BINARY}`)
  return rtf === undefined ? [] : compressedRtfBlocks(rtf)
}

function first(message: Message, properties: string[]): string {
  for (const property of properties) {
    const text = textOf(message, property)
    if (text !== '') return text
  }
  return ''
}

/** The text of a property of a message or of one of its folders; empty where there is none. */
function textOf({ streams, at }: Message, property: string): string {
  const name = `${at}__substg1.0_${property}`
  const wide = streams.get(`${name}${UNICODE}`)
  if (wide !== undefined) return clean(wide.toString('utf16le'))
  const narrow = streams.get(`${name}${STRING8}`) ?? streams.get(`${name}${BINARY}`)
  return narrow === undefined ? '' : clean(decodeText(narrow).text)
}

function clean(text: string): string {
  return text.replace(/\0+$/, '').trim()
}
