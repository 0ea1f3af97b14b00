/** Headers that nearly every mail begins with, as servers or programs write them. */
const HEADER =
  /^(?:return-path|received|delivered-to|message-id|mime-version|from|to|subject|date|reply-to|content-type|dkim-signature|arc-seal|authentication-results|x-[\w-]+|list-id|envelope-to|status|cc|sender):[ \t]/i
/** A mail has at least one header of these names and others: a text may begin with a single one. */
const DISTINCTIVE_HEADER = /^(?:from|received|return-path|message-id):[ \t]/i
const EXAMINED_LENGTH = 8192
const MIN_HEADERS = 3

/** The line before each mail of an mbox: `From sender date` (RFC 4155). */
const MBOX =
  /^From \S{1,320} +[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d(?::\d\d)? [^\n]{0,20}\d{4}[^\n]{0,40}\r?\n(?:>?[\w-]{1,70}[: ])/

/** Whether bytes begin like a mailbox. */
export function isMbox(bytes: Buffer): boolean {
  return bytes[0] === 0x46 && MBOX.test(bytes.toString('latin1', 0, 1024))
}

/** Whether a text is a mail, whatever its name: it begins with headers of a mail and with nothing else. */
export function isMail(text: string): boolean {
  const head = text.slice(0, EXAMINED_LENGTH)
  const end = /\r?\n\r?\n/.exec(head)?.index
  const lines = head.slice(0, end).split(/\r?\n/)
  // The last line may be truncated.
  if (end === undefined) lines.pop()
  let headers = 0
  let hasDistinctiveHeader = false
  for (const line of lines) {
    if (/^[ \t]/.test(line) && headers > 0) continue
    if (!/^[\x21-\x39\x3b-\x7e]{1,70}:/.test(line)) return false
    if (HEADER.test(line)) headers += 1
    if (DISTINCTIVE_HEADER.test(line)) hasDistinctiveHeader = true
  }
  return hasDistinctiveHeader && headers >= MIN_HEADERS
}
