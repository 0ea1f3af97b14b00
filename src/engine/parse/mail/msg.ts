import { decodeText } from '../charset.js'
import { ReadError } from '../limits.js'
import { readHtml } from '../markup/html.js'
import { readCompound } from '../office/compound.js'
import type { Block, Parsed, Parser, ParserInput } from '../parsed.js'
import { proseBlocks } from '../text/text.js'
import { mailFields } from './mail-fields.js'

/** Properties of a message and of an attachment (MS-OXPROPS), by their number in hexadecimal. */
const SUBJECT = '0037'
const SENDER_NAME = '0C1A'
const SENDER_ADDRESSES = ['5D01', '0C1F']
const TO = '0E04'
const CC = '0E03'
const HEADERS = '007D'
const BODY = '1000'
const HTML = '1013'
const ATTACHMENT_NAMES = ['3707', '3704']
const ATTACHMENT_DATA = '3701'
const ATTACHMENT_TYPE = '370E'

/** Types of properties with text: UTF-16, and bytes in some code page. */
const UNICODE = '001F'
const STRING8 = '001E'
const BINARY = '0102'

/** Reads messages of Outlook as `eml.ts` reads those of others: who, when and about what, the text, attachments. */
export const msgParser: Parser = {
  accepts: (mediaType) => mediaType === 'application/vnd.ms-outlook',
  parse: parseMsg,
}

function parseMsg(input: ParserInput): Parsed {
  const streams = readCompound(input.bytes, input.filename)
  const subject = textOf(streams, '', SUBJECT)
  const blocks = [...headBlocks(streams, subject), ...bodyBlocks(streams), ...attachmentBlocks(streams)]
  if (blocks.length === 0) throw new ReadError('empty', `${input.filename} has no text`)
  return {
    parser: 'unstructured',
    contentType: 'text',
    ...(subject === '' ? {} : { title: subject }),
    blocks,
    metadata: {},
    declared: mailFields(sentAt(streams), textOf(streams, '', SENDER_NAME)),
  }
}

function headBlocks(streams: ReadonlyMap<string, Buffer>, subject: string): Block[] {
  const name = textOf(streams, '', SENDER_NAME)
  const address = first(streams, '', SENDER_ADDRESSES)
  // Within one organisation an address may be a path of its directory, which says nothing to readers.
  const shown = address.includes('@') && address !== name ? [name, `<${address}>`].join(' ').trim() : name
  const date = sentAt(streams)
  const lines = [
    ['From', shown],
    ['To', textOf(streams, '', TO)],
    ['Cc', textOf(streams, '', CC)],
    ['Date', date],
    ['Subject', subject],
  ].flatMap(([label, value]) => (value === undefined || value === '' ? [] : [`${label}: ${value}`]))
  return lines.length === 0 ? [] : [{ type: 'list', text: lines.join('\n') }]
}

/** When it was sent, as its headers say; empty where it has none. */
function sentAt(streams: ReadonlyMap<string, Buffer>): string {
  return /^Date:[ \t]*(.+)$/im.exec(textOf(streams, '', HEADERS).slice(0, 100_000))?.[1]?.trim() ?? ''
}

function bodyBlocks(streams: ReadonlyMap<string, Buffer>): Block[] {
  const plain = textOf(streams, '', BODY)
  if (plain !== '') return proseBlocks(plain)
  const html = textOf(streams, '', HTML)
  return html === '' ? [] : readHtml(html).blocks
}

/** Names of all attachments, and the content of those that are plain text. */
function attachmentBlocks(streams: ReadonlyMap<string, Buffer>): Block[] {
  const folders = new Set<string>()
  for (const path of streams.keys()) {
    const folder = /^__attach_version1\.0_#[0-9A-Fa-f]{8}\//.exec(path)?.[0]
    if (folder !== undefined) folders.add(folder)
  }
  return [...folders].flatMap((folder) => {
    const name = first(streams, folder, ATTACHMENT_NAMES)
    const blocks: Block[] = name === '' ? [] : [{ type: 'paragraph', text: `Attachment: ${name}` }]
    const data = streams.get(`${folder}__substg1.0_${ATTACHMENT_DATA}${BINARY}`)
    const plain = textOf(streams, folder, ATTACHMENT_TYPE).toLowerCase() === 'text/plain'
    return plain && data !== undefined ? [...blocks, ...proseBlocks(decodeText(data).text)] : blocks
  })
}

function first(streams: ReadonlyMap<string, Buffer>, folder: string, properties: string[]): string {
  for (const property of properties) {
    const text = textOf(streams, folder, property)
    if (text !== '') return text
  }
  return ''
}

/** The text of a property of the message or of what is in a folder of it; empty where it has none. */
function textOf(streams: ReadonlyMap<string, Buffer>, folder: string, property: string): string {
  const name = `${folder}__substg1.0_${property}`
  const wide = streams.get(`${name}${UNICODE}`)
  if (wide !== undefined) return clean(wide.toString('utf16le'))
  const narrow = streams.get(`${name}${STRING8}`) ?? streams.get(`${name}${BINARY}`)
  return narrow === undefined ? '' : clean(decodeText(narrow).text)
}

function clean(text: string): string {
  return text.replace(/\0+$/, '').trim()
}
