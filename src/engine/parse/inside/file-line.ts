import type { Block } from '../parsed.js'
import type { Outcome } from './inside.js'

/** What lies in a document that is no archive, by the word that stands before its name. */
type Kind = 'Attachment' | 'Embedded file'

/** The line that stands in the text of a document for a file that lies in it. */
export function fileLine(kind: Kind, name: string, outcome: Outcome): string {
  const unread = 'unread' in outcome ? ` (not read: ${outcome.unread})` : ''
  return `${kind}: ${'kept' in outcome ? outcome.kept : name}${unread}`
}

/** The same of a file that stands in an office file. */
export function embeddedBlock(name: string, outcome: Outcome): Block {
  return { type: 'paragraph', text: fileLine('Embedded file', name, outcome), metadata: { role: 'embedded-file' } }
}
