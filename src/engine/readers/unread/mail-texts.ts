import { isAttachment, isShownText, removeAppleFrame } from '../mail/eml.js'
import { decodePartText, type MimePart, parseMime } from '../mail/mime.js'
import type { FileText } from '../parsed.js'
import { findMessageTexts } from './html-texts.js'
import type { CountedFile } from './markup-texts.js'

/** Parts whose fields are read; those that are not read have their own warning. */
const FIELD_TYPES = /^text\/(?:calendar|(?:x-)?vcard|directory|rtf|richtext)$/

/** Finds the texts of all parts of a mail, each of its alternatives too: only one of them is read. */
export function findMailTexts({ bytes }: CountedFile, visit: (text: FileText) => void): void {
  visitParts(parseMime(removeAppleFrame(bytes).toString('latin1')).message, visit)
}

function visitParts(part: MimePart, visit: (text: FileText) => void): void {
  const isAlternative = part.type === 'multipart/alternative'
  for (const [index, inner] of part.parts.entries()) {
    const isRepeated = isAlternative && index > 0
    visitParts(inner, isRepeated ? (text) => visit({ ...text, isRepeated, construct: inner.type }) : visit)
  }
  if (part.parts.length > 0 || isAttachment(part) || !isShownText(part) || FIELD_TYPES.test(part.type)) return
  const text = decodePartText(part)
  if (part.type === 'text/html') findMessageTexts(text, visit)
  else visit({ text, construct: part.type })
}
