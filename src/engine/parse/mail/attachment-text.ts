import type { Outcome } from '../inside/inside.js'

/** The line that stands in the text of a mail for a file that was attached to it. */
export function attachmentText(name: string, outcome: Outcome): string {
  const unread = 'unread' in outcome ? ` (not read: ${outcome.unread})` : ''
  return `Attachment: ${'kept' in outcome ? outcome.kept : name}${unread}`
}
