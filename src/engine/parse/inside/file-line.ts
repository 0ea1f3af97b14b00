import type { Block } from '../parsed.js'
import type { Outcome } from './inside.js'

/** Label before the name of a contained file of a document that is no archive. */
type Kind = 'Attachment' | 'Embedded file'

/** The line in the text of a document for a contained file. */
export function fileLine(kind: Kind, name: string, outcome: Outcome): string {
  const unread = 'unread' in outcome ? ` (not read: ${outcome.unread})` : ''
  return `${kind}: ${'kept' in outcome ? outcome.kept : name}${unread}`
}

/** The block for a file embedded in an office file. */
export function embeddedBlock(name: string, outcome: Outcome): Block {
  return { type: 'paragraph', text: fileLine('Embedded file', name, outcome), metadata: { role: 'embedded-file' } }
}
