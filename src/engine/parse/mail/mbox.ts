import { Listing } from '../archive/listing.js'
import type { Parsed, Parser, ParserInput } from '../parsed.js'
import { endingOf } from '../sniff.js'
import { emlParser } from './eml.js'
import { decodeWords } from './mime-words.js'

/** The headers that name a mail are searched in this many bytes. */
const HEAD_BYTES = 64 * 1024
const MAX_SUBJECT = 80

/** Reads a mailbox as a folder of mails (RFC 4155, and `>From` as mboxrd quotes it). */
export const mboxParser: Parser = {
  accepts: (mediaType) => mediaType === 'application/mbox',
  parse: parseMbox,
}

async function parseMbox(input: ParserInput): Promise<Parsed> {
  const { bytes, filename, inside } = input
  const [only, another] = mailsOf(bytes)
  // Some programs save a single mail with the separator line of a mailbox.
  if (endingOf(filename) === 'eml' && only !== undefined && another === undefined)
    return { ...(await emlParser.parse({ ...input, bytes: only })), mediaType: 'message/rfc822' }
  const listing = new Listing(filename)
  for (const mail of mailsOf(bytes)) {
    const name = nameOf(mail)
    listing.note(name, await inside.add({ name, mediaType: 'message/rfc822', content: unquoted(mail) }))
  }
  return { ...listing.told(), contentType: 'text' }
}

const FROM = Buffer.from('From ')
const LINE_FROM = Buffer.from('\nFrom ')
const QUOTED = Buffer.from('\n>')

/** Splits a mailbox at the lines that begin with `From ` and follow an empty line, as every writer leaves one. */
function* mailsOf(bytes: Buffer): Generator<Buffer> {
  let start = bodyStart(bytes, 0)
  for (let at = bytes.indexOf(LINE_FROM, start); at !== -1; at = bytes.indexOf(LINE_FROM, at + 1)) {
    const isSeparated = bytes[at - 1] === 0x0a || (bytes[at - 1] === 0x0d && bytes[at - 2] === 0x0a)
    if (!isSeparated || !isSeparator(bytes, at + 1)) continue
    yield bytes.subarray(start, at)
    start = bodyStart(bytes, at + 1)
  }
  yield bytes.subarray(start)
}

/** Whether a line that begins with `From ` ends with a date; other such lines belong to the text of a mail. */
function isSeparator(bytes: Buffer, at: number): boolean {
  const line = bytes.toString('latin1', at + FROM.length, at + 400).split(/\r?\n/, 1)[0] ?? ''
  return /\d\d:\d\d(?::\d\d)? .{0,20}\d{4}/.test(line)
}

function bodyStart(bytes: Buffer, at: number): number {
  const end = bytes.indexOf(0x0a, at)
  return end === -1 ? bytes.length : end + 1
}

/** A mail without the quote marks before lines that begin with `From `. */
function* unquoted(mail: Buffer): Generator<Buffer> {
  let start = 0
  for (let at = mail.indexOf(QUOTED); at !== -1; at = mail.indexOf(QUOTED, at + 1)) {
    let marks = at + 1
    while (mail[marks] === 0x3e) marks += 1
    if (!mail.subarray(marks, marks + FROM.length).equals(FROM)) continue
    yield mail.subarray(start, at + 1)
    start = at + 2
  }
  yield mail.subarray(start)
}

/** File name from date and subject: it stays the same when other mails are added or removed. */
function nameOf(mail: Buffer): string {
  const end = mail.indexOf('\n\n')
  const crlf = mail.indexOf('\r\n\r\n')
  const head = mail
    .toString('latin1', 0, Math.min(HEAD_BYTES, ...[end, crlf].filter((at) => at !== -1)))
    .replace(/\r?\n[ \t]+/g, ' ')
  const header = (name: string) => new RegExp(`^${name}:[ \\t]*([^\\r\\n]*)`, 'im').exec(head)?.[1] ?? ''
  const date = new Date(header('Date').replace(/\([^)]*\)/g, ''))
  const day = Number.isNaN(date.getTime()) ? '' : `${date.toISOString().slice(0, 10)} `
  const subject = decodeWords(header('Subject'))
    .replace(/[/\\\u0000-\u001f\u007f]+/g, ' ')
    .replace(/ {2,}/g, ' ')
    .trim()
    .slice(0, MAX_SUBJECT)
    .replace(/^\.+/, '')
  return `${day}${subject === '' ? 'message' : subject}.eml`
}
