import { readHtml } from '../markup/html.js'
import type { Block, Parsed, Parser } from '../parsed.js'
import { proseBlocks } from '../text/text.js'
import { mailFields } from './mail-fields.js'
import { type MimePart, partBytes, partText, readMime } from './mime.js'
import { decodeWords } from './mime-words.js'

const SHOWN_HEADERS = ['From', 'To', 'Cc', 'Date', 'Subject'] as const

/** Reads e-mail messages: who, when and about what, the text, text attachments, names of the others. */
export const emlParser: Parser = {
  accepts: (mediaType) => mediaType === 'message/rfc822',
  parse: (input) => parseMessage(readMime(input.bytes.toString('latin1'))),
}

function parseMessage(message: MimePart): Parsed {
  const blocks = messageBlocks(message)
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

function messageBlocks(message: MimePart): Block[] {
  const head: string[] = []
  for (const name of SHOWN_HEADERS) {
    const value = message.headers.get(name.toLowerCase())
    if (value !== undefined && value !== '') head.push(`${name}: ${decodeWords(value)}`)
  }
  const body = message.type === 'message/rfc822' ? message.parts.flatMap(messageBlocks) : partBlocks(message)
  return head.length === 0 ? body : [{ type: 'list', text: head.join('\n') }, ...body]
}

function partBlocks(part: MimePart): Block[] {
  if (part.type === 'message/rfc822') return part.parts.flatMap(messageBlocks)
  if (part.type === 'multipart/alternative') return alternative(part.parts)
  if (part.type.startsWith('multipart/')) return part.parts.flatMap(partBlocks)
  const name = part.filename === undefined ? [] : [attachmentName(part.filename)]
  if (part.type === 'text/html') return [...(part.attachment ? name : []), ...readHtml(partText(part)).blocks]
  if (part.type.startsWith('text/')) return [...(part.attachment ? name : []), ...proseBlocks(partText(part))]
  if (part.type.startsWith('image/')) {
    const bytes = partBytes(part)
    if (bytes.length === 0) return name
    return [{ type: 'image', text: part.filename ?? '', picture: { bytes: new Uint8Array(bytes) } }]
  }
  return name
}

/** Versions of one text, the plainest first; the first with words is the one to read. */
function alternative(parts: MimePart[]): Block[] {
  for (const part of parts) {
    const blocks = partBlocks(part)
    if (blocks.some((block) => block.text.trim() !== '')) return blocks
  }
  return []
}

function attachmentName(filename: string): Block {
  return { type: 'paragraph', text: `Attachment: ${filename}` }
}
