import { decodeText } from '../charset.js'
import { decodePartText, type MimePart, parseMime } from '../mail/mime.js'
import { readHtml } from '../markup/html.js'
import type { Block } from '../parsed.js'
import { readProseBlocks } from '../text/text.js'
import { readRtfBlocks } from './rtf.js'

/** First bytes of files that a Word document embeds as a part of its text. */
const ZIP = 'PK\x03\x04'

/**
 * Reads a file that is embedded as a part of the text (`w:altChunk`): HTML, a web archive, RTF, a Word document, text.
 * The content decides, because the endings of parts mean nothing.
 *
 * @param readDocx reads an embedded Word document
 */
export function readWordChunk(bytes: Buffer, readDocx: (bytes: Buffer) => Block[]): Block[] {
  const head = bytes.toString('latin1', 0, 2000)
  if (head.startsWith(ZIP)) return readDocx(bytes)
  if (head.startsWith('{\\rtf')) return readRtfBlocks(bytes)
  if (/^(?:mime-version|content-type|from|message-id):/im.test(head) && !/^\s*</.test(head))
    return readArchive(parseMime(bytes.toString('latin1')).message)
  const { text } = decodeText(bytes)
  if (/^\s*<|<(?:html|body|p|div|table|h[1-6]|ul|ol|br)[\s>/]/i.test(text.slice(0, 4000))) return readHtml(text).blocks
  return readProseBlocks(text)
}

/** The first page of a web archive, which comes before its pictures and styles. */
function readArchive(archive: MimePart): Block[] {
  const pending = [archive]
  for (let part = pending.pop(); part !== undefined; part = pending.pop()) {
    if (part.type === 'text/html') return readHtml(decodePartText(part)).blocks
    if (part.parts.length === 0 && part.type === 'text/plain') return readProseBlocks(decodePartText(part))
    pending.push(...[...part.parts].reverse())
  }
  return []
}
