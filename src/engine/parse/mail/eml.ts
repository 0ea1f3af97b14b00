import { fileLine } from '../inside/file-line.js'
import type { Inside } from '../inside/inside.js'
import { readHtml } from '../markup/html.js'
import type { Block, Parsed, Parser } from '../parsed.js'
import { proseBlocks } from '../text/text.js'

import { mailFields } from './mail-fields.js'
import { type MimePart, partBytes, partText, readMime } from './mime.js'
import { decodeWords } from './mime-words.js'

const SHOWN_HEADERS = ['From', 'To', 'Cc', 'Date', 'Subject'] as const

/**
 * Reads e-mail messages: sender, recipients, date, subject, text, names of attachments. Attachments are separate
 * documents; forwarded messages stay part of the text, and pictures that the text displays stay its pictures.
 */
export const emlParser: Parser = {
  accepts: (mediaType) => mediaType === 'message/rfc822',
  parse: (input) => parseMessage(readMime(withoutFrame(input.bytes).toString('latin1')), input.inside),
}

/** Mail of macOS (`.emlx`) puts the length of the message before it and a property list after it. */
function withoutFrame(bytes: Buffer): Buffer {
  const found = /^(\d{1,10})[ \t]*\r?\n/.exec(bytes.toString('latin1', 0, 64))
  if (found === null) return bytes
  const start = found[0].length
  return bytes.subarray(start, start + Number(found[1]))
}

async function parseMessage(message: MimePart, inside: Inside): Promise<Parsed> {
  const attachments: MimePart[] = []
  const blocks = messageBlocks(message, attachments)
  for (const part of attachments) {
    const name = part.filename ?? 'attachment'
    const outcome = await inside.add({ name, mediaType: part.type, content: contentOf(part) })
    blocks.push({ type: 'paragraph', text: fileLine('Attachment', name, outcome) })
  }
  const subject = decodeWords(message.headers.get('subject') ?? '').trim()
  return {
    parser: 'unstructured',
    contentType: 'text',
    ...(subject === '' ? {} : { title: subject }),
    blocks,
    metadata: {},
    declared: mailFields(message.headers.get('date'), decodeWords(message.headers.get('from') ?? '')),
  }
}

function messageBlocks(message: MimePart, attachments: MimePart[]): Block[] {
  const head: string[] = []
  for (const name of SHOWN_HEADERS) {
    const value = message.headers.get(name.toLowerCase())
    if (value !== undefined && value !== '') head.push(`${name}: ${decodeWords(value)}`)
  }
  const body = partBlocks(message, attachments)
  return head.length === 0 ? body : [{ type: 'list', text: head.join('\n') }, ...body]
}

/** @param attachments receives the parts that are separate documents */
function partBlocks(part: MimePart, attachments: MimePart[]): Block[] {
  if (part.type === 'message/rfc822') return part.parts.flatMap((inner) => messageBlocks(inner, attachments))
  if (part.type === 'multipart/alternative') return alternative(part.parts, attachments)
  if (part.type.startsWith('multipart/')) return part.parts.flatMap((inner) => partBlocks(inner, attachments))
  if (isAttachment(part)) {
    attachments.push(part)
    return []
  }
  if (part.type === 'text/html') return readHtml(partText(part)).blocks
  if (part.type.startsWith('text/')) return proseBlocks(partText(part))
  const bytes = part.type.startsWith('image/') ? partBytes(part) : undefined
  if (bytes === undefined || bytes.length === 0) return []
  return [{ type: 'image', text: part.filename ?? '', picture: { bytes: new Uint8Array(bytes) } }]
}

/**
 * Whether a part is a file that was sent with the mail: it is declared as one, or it is neither text nor picture and
 * has a name.
 */
function isAttachment(part: MimePart): boolean {
  if (part.attachment) return true
  if (part.filename === undefined || part.type.startsWith('text/')) return false
  return !part.type.startsWith('image/')
}

/** Alternatives of one text, the plainest first: the first one with text is read. */
function alternative(parts: MimePart[], attachments: MimePart[]): Block[] {
  for (const part of parts) {
    const blocks = partBlocks(part, attachments)
    if (blocks.some((block) => block.text.trim() !== '')) return blocks
  }
  return []
}

function* contentOf(part: MimePart): Generator<Uint8Array> {
  yield partBytes(part)
}
