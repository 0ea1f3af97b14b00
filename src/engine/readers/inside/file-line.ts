import type { Block } from '../parsed.js'
import type { ContainedFileOutcome } from './contained-files.js'

/** Label before the name of a contained file of a document that is no archive. */
type ContainedFileLabel = 'Attachment' | 'Embedded file'

/** The line in the text of a document for a contained file. */
export function formatFileLine(kind: ContainedFileLabel, name: string, outcome: ContainedFileOutcome): string {
  const unread = 'unread' in outcome ? ` (not read: ${outcome.unread})` : ''
  return `${kind}: ${'kept' in outcome ? outcome.kept : name}${unread}`
}

/** The block for a file embedded in an office file. */
export function toEmbeddedFileBlock(name: string, outcome: ContainedFileOutcome): Block {
  return {
    type: 'paragraph',
    text: formatFileLine('Embedded file', name, outcome),
    metadata: { role: 'embedded-file' },
  }
}
