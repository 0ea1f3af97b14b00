import { pluralize } from '../../../lib/text/pluralize.js'
import { readCalendar } from '../data/calendar.js'
import { readCards } from '../data/vcard.js'
import type { ContainedFileCollector } from '../inside/contained-files.js'
import { formatFileLine } from '../inside/file-line.js'
import { readHtml } from '../markup/html.js'
import { readRtfBlocks } from '../office/rtf.js'
import type { Block, ParsedDocument, Parser } from '../parsed.js'
import { readProseBlocks } from '../text/text.js'

import { toMailFields } from './mail-fields.js'
import { decodePartBytes, decodePartText, getPartCharset, type MimePart, parseMime } from './mime.js'
import { decodeHeaderWords } from './mime-words.js'

/** Parts without a name that prove who sent a message, or hold its keys. */
const NAMELESS_KEYS = /signature|pgp-encrypted|pgp-keys/
const SHOWN_HEADERS = ['From', 'To', 'Cc', 'Date', 'Subject'] as const

/**
 * Reads e-mail messages: sender, recipients, date, subject, text, names of attachments. Attachments are separate
 * documents; forwarded messages stay part of the text, and pictures that the text displays stay its pictures.
 */
export const emlParser: Parser = {
  parse: (input) => parseMessage(removeAppleFrame(input.bytes), input.inside),
}

/** Mail of macOS (`.emlx`) puts the length of the message before it and a property list after it. */
export function removeAppleFrame(bytes: Buffer): Buffer {
  const match = /^(\d{1,10})[ \t]*\r?\n/.exec(bytes.toString('latin1', 0, 64))
  if (match === null) return bytes
  const start = match[0].length
  return bytes.subarray(start, start + Number(match[1]))
}

async function parseMessage(bytes: Buffer, containedFiles: ContainedFileCollector): Promise<ParsedDocument> {
  const { message, unreadParts } = parseMime(bytes.toString('latin1'))
  const attachments: MimePart[] = []
  const blocks = toMessageBlocks(message, attachments)
  for (const part of attachments) {
    const name = part.filename ?? 'attachment'
    const content = decodeLazily(part)
    const outcome = await containedFiles.add({ name, mediaType: part.type, content })
    blocks.push({ type: 'paragraph', text: formatFileLine('Attachment', name, outcome) })
  }
  const subject = decodeHeaderWords(message.headers.get('subject') ?? '').trim()
  return {
    parser: 'unstructured',
    contentType: 'text',
    ...(subject === '' ? {} : { title: subject }),
    blocks,
    metadata: unreadParts === 0 ? {} : { warnings: [`not read: ${pluralize(unreadParts, 'part')} of the mail`] },
    declared: toMailFields(message.headers.get('date'), decodeHeaderWords(message.headers.get('from') ?? '')),
  }
}

function toMessageBlocks(message: MimePart, attachments: MimePart[]): Block[] {
  const head: string[] = []
  for (const name of SHOWN_HEADERS) {
    const value = message.headers.get(name.toLowerCase())
    if (value !== undefined && value !== '') head.push(`${name}: ${decodeHeaderWords(value)}`)
  }
  const body = toPartBlocks(message, attachments)
  return head.length === 0 ? body : [{ type: 'list', text: head.join('\n') }, ...body]
}

/** @param attachments receives the parts that are separate documents */
function toPartBlocks(part: MimePart, attachments: MimePart[]): Block[] {
  if (part.type === 'message/rfc822') return part.parts.flatMap((inner) => toMessageBlocks(inner, attachments))
  if (part.type === 'multipart/alternative') return readAlternatives(part.parts, attachments)
  if (part.type.startsWith('multipart/')) return part.parts.flatMap((inner) => toPartBlocks(inner, attachments))
  if (isAttachment(part)) {
    attachments.push(part)
    return []
  }
  if (isShownText(part)) return toTextBlocks(part)
  const bytes = part.type.startsWith('image/') ? decodePartBytes(part) : undefined
  if (bytes === undefined || bytes.length === 0) return []
  return [{ type: 'image', text: part.filename ?? '', picture: { bytes: new Uint8Array(bytes) } }]
}

/**
 * Whether a part is a file that was sent with the mail: it is declared as one, or it is neither text nor picture and
 * has a name.
 */
export function isAttachment(part: MimePart): boolean {
  if (part.attachment) return true
  if (isShownText(part) || part.type.startsWith('image/') || part.type.startsWith('multipart/')) return false
  return part.filename !== undefined || !NAMELESS_KEYS.test(part.type)
}

/** Texts, and the reports and headers that servers send as parts of a message. */
export function isShownText(part: MimePart): boolean {
  return part.type.startsWith('text/') || (part.type.startsWith('message/') && part.filename === undefined)
}

function toTextBlocks(part: MimePart): Block[] {
  if (part.type === 'text/html') return readHtml(decodePartText(part)).blocks
  if (part.type === 'text/rtf' || part.type === 'text/richtext') {
    const bytes = decodePartBytes(part)
    if (bytes.toString('latin1', 0, 5) === '{\\rtf') return readRtfBlocks(bytes)
  }
  const blocks =
    part.type === 'text/calendar'
      ? readCalendar(decodePartBytes(part), getPartCharset(part)).blocks
      : /^text\/(?:x-)?(?:vcard|directory)$/.test(part.type)
        ? readCards(decodePartBytes(part), getPartCharset(part)).blocks
        : []
  return blocks.length > 0 ? blocks : readProseBlocks(decodePartText(part))
}

/** Alternatives of one text, the plainest first: the first one with text is read. */
function readAlternatives(parts: MimePart[], attachments: MimePart[]): Block[] {
  for (const part of parts) {
    const blocks = toPartBlocks(part, attachments)
    if (blocks.some((block) => block.text.trim() !== '')) return blocks
  }
  return []
}

/** Decodes a part when its bytes are read. */
function* decodeLazily(part: MimePart): Generator<Uint8Array> {
  yield decodePartBytes(part)
}
