import { ArchiveListing } from '../archive/listing.js'
import type { ParsedDocument, Parser, ParserInput } from '../parsed.js'
import { getFileEnding } from '../sniff.js'
import { emlParser } from './eml.js'
import { decodeHeaderWords } from './mime-words.js'

/** The headers that name a mail are searched in this many bytes. */
const HEAD_BYTES = 64 * 1024
const MAX_SUBJECT_LENGTH = 80

/** Reads a mailbox as a folder of mails (RFC 4155, and `>From` as mboxrd quotes it). */
export const mboxParser: Parser = {
  parse: parseMbox,
}

async function parseMbox(input: ParserInput): Promise<ParsedDocument> {
  const { bytes, filename, inside: containedFiles } = input
  const [only, another] = splitMails(bytes)
  // Some programs save a single mail with the separator line of a mailbox.
  if (getFileEnding(filename) === 'eml' && only !== undefined && another === undefined)
    return { ...(await emlParser.parse({ ...input, bytes: only })), mediaType: 'message/rfc822' }
  const listing = new ArchiveListing(filename)
  for (const mail of splitMails(bytes)) {
    const name = makeMailName(mail)
    listing.add(name, await containedFiles.add({ name, mediaType: 'message/rfc822', content: unquoteFromLines(mail) }))
  }
  return { ...listing.toDocument(), contentType: 'text' }
}

const FROM = Buffer.from('From ')
const LINE_FROM = Buffer.from('\nFrom ')
const QUOTED = Buffer.from('\n>')

/** Splits a mailbox at the lines that begin with `From ` and follow an empty line, as every writer leaves one. */
function* splitMails(bytes: Buffer): Generator<Buffer> {
  let start = findBodyStart(bytes, 0)
  for (let offset = bytes.indexOf(LINE_FROM, start); offset !== -1; offset = bytes.indexOf(LINE_FROM, offset + 1)) {
    const isSeparated = bytes[offset - 1] === 0x0a || (bytes[offset - 1] === 0x0d && bytes[offset - 2] === 0x0a)
    if (!isSeparated || !isSeparator(bytes, offset + 1)) continue
    yield bytes.subarray(start, offset)
    start = findBodyStart(bytes, offset + 1)
  }
  yield bytes.subarray(start)
}

/** Whether a line that begins with `From ` ends with a date; other such lines belong to the text of a mail. */
function isSeparator(bytes: Buffer, offset: number): boolean {
  const line = bytes.toString('latin1', offset + FROM.length, offset + 400).split(/\r?\n/, 1)[0] ?? ''
  return /\d\d:\d\d(?::\d\d)? .{0,20}\d{4}/.test(line)
}

function findBodyStart(bytes: Buffer, offset: number): number {
  const end = bytes.indexOf(0x0a, offset)
  return end === -1 ? bytes.length : end + 1
}

/** A mail without the quote marks before lines that begin with `From `. */
function* unquoteFromLines(mail: Buffer): Generator<Buffer> {
  let start = 0
  for (let offset = mail.indexOf(QUOTED); offset !== -1; offset = mail.indexOf(QUOTED, offset + 1)) {
    let marksEnd = offset + 1
    while (mail[marksEnd] === 0x3e) marksEnd += 1
    if (!mail.subarray(marksEnd, marksEnd + FROM.length).equals(FROM)) continue
    yield mail.subarray(start, offset + 1)
    start = offset + 2
  }
  yield mail.subarray(start)
}

/** File name from date and subject: it stays the same when other mails are added or removed. */
function makeMailName(mail: Buffer): string {
  const end = mail.indexOf('\n\n')
  const crlf = mail.indexOf('\r\n\r\n')
  const head = mail
    .toString('latin1', 0, Math.min(HEAD_BYTES, ...[end, crlf].filter((offset) => offset !== -1)))
    .replace(/\r?\n[ \t]+/g, ' ')
  const header = (name: string) => new RegExp(`^${name}:[ \\t]*([^\\r\\n]*)`, 'im').exec(head)?.[1] ?? ''
  const date = new Date(header('Date').replace(/\([^)]*\)/g, ''))
  const day = Number.isNaN(date.getTime()) ? '' : `${date.toISOString().slice(0, 10)} `
  const subject = decodeHeaderWords(header('Subject'))
    .replace(/[/\\\u0000-\u001f\u007f]+/g, ' ')
    .replace(/ {2,}/g, ' ')
    .trim()
    .slice(0, MAX_SUBJECT_LENGTH)
    .replace(/^\.+/, '')
  return `${day}${subject === '' ? 'message' : subject}.eml`
}
