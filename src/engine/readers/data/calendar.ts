import { omitUndefined } from '../../../lib/omit-undefined.js'
import { ReadError } from '../limits.js'
import type { Block, ParsedDocument, Parser, ParserInput } from '../parsed.js'
import {
  type ContentLine,
  hasWords,
  readContentLines,
  splitValue,
  toFieldWarnings,
  unescapeValue,
} from './content-lines.js'

/** Labels of the entries of a calendar. */
const ENTRY_LABELS = new Map([
  ['VEVENT', 'Event'],
  ['VTODO', 'Task'],
  ['VJOURNAL', 'Journal'],
  ['VFREEBUSY', 'Busy times'],
])
const FIELD_LABELS = new Map([
  ['DTSTART', 'Start'],
  ['DTEND', 'End'],
  ['DUE', 'Due'],
  ['DURATION', 'Duration'],
  ['COMPLETED', 'Completed'],
  ['RRULE', 'Repeats'],
  ['LOCATION', 'Where'],
  ['ORGANIZER', 'Organizer'],
  ['ATTENDEE', 'Attendees'],
  ['STATUS', 'Status'],
  ['PRIORITY', 'Priority'],
  ['CATEGORIES', 'Categories'],
  ['URL', 'URL'],
  ['CONTACT', 'Contact'],
  ['RESOURCES', 'Resources'],
  ['COMMENT', 'Comment'],
  ['FREEBUSY', 'Busy'],
  ['ATTACH', 'Attached'],
  ['CONFERENCE', 'Conference'],
])
/** Fields that describe the entry for programs. */
const TECHNICAL_FIELDS =
  /^(?:UID|DTSTAMP|CREATED|LAST-MODIFIED|SEQUENCE|CLASS|TRANSP|GEO|RECURRENCE-ID|RDATE|EXDATE|EXRULE|PERCENT-COMPLETE|REQUEST-STATUS|SUMMARY|DESCRIPTION|STYLED-DESCRIPTION|RELATED-TO|IMAGE|COLOR|X-(?:MICROSOFT|APPLE|GOOGLE|MOZ|ALT-DESC|WR|MS|LIC|CALENDARSERVER|EVOLUTION)\b.*)$/
/** Bounds of the entries of one file, and of the values of one field. */
const MAX_ENTRIES = 100_000
const MAX_FIELD_VALUES = 200

/** Reads calendars (RFC 5545): each event, task and journal entry is a section with its fields. */
export const calendarParser: Parser = {
  parse: parseCalendar,
}

interface CalendarEntry {
  kind: string
  title: string
  fields: Map<string, string[]>
  description: string
}

/** Reads the entries of a calendar. @param charset declared by the mail that it is a part of */
export function readCalendar(
  bytes: Buffer,
  charset?: string,
): { blocks: Block[]; entryCount: number; title?: string; warnings?: string[] } {
  const { entries, title, unread } = parseEntries(bytes, charset)
  return {
    blocks: entries.flatMap(toEntryBlocks),
    entryCount: entries.length,
    ...omitUndefined({ title }),
    ...toFieldWarnings(unread),
  }
}

function parseCalendar(input: ParserInput): ParsedDocument {
  const { blocks, entryCount, title, warnings } = readCalendar(input.bytes)
  if (entryCount === 0) throw new ReadError('empty', `${input.filename} has no events`)
  return {
    parser: 'native-structured',
    contentType: 'structured',
    ...omitUndefined({ title }),
    blocks,
    metadata: { entryCount, ...omitUndefined({ warnings }) },
  }
}

function parseEntries(
  bytes: Buffer,
  charset: string | undefined,
): { entries: CalendarEntry[]; title: string | undefined; unread: Set<string> } {
  const unread = new Set<string>()
  const entries: CalendarEntry[] = []
  let title: string | undefined
  let entry: CalendarEntry | undefined
  /** depth of components within an entry (alarms), which are ignored */
  let innerDepth = 0
  for (const line of readContentLines(bytes, charset)) {
    if (line.name === 'BEGIN') {
      const kind = ENTRY_LABELS.get(line.value.trim().toUpperCase())
      if (entry !== undefined) innerDepth++
      else if (kind !== undefined) entry = { kind, title: '', fields: new Map(), description: '' }
    } else if (line.name === 'END') {
      if (innerDepth > 0) innerDepth--
      else if (entry !== undefined) {
        if (entries.length < MAX_ENTRIES) entries.push(entry)
        entry = undefined
      }
    } else if (entry === undefined) {
      if (line.name === 'X-WR-CALNAME' || line.name === 'NAME') title ??= unescapeValue(line.value)
    } else if (innerDepth === 0 && !addLine(entry, line) && hasWords(line)) unread.add(line.name)
  }
  return { entries, title, unread }
}

/** Adds a field to an entry. @returns whether the field is known */
function addLine(entry: CalendarEntry, line: ContentLine): boolean {
  if (line.name === 'SUMMARY') entry.title = unescapeValue(line.value).replace(/\s+/g, ' ')
  else if (line.name === 'DESCRIPTION') entry.description = unescapeValue(line.value)
  const label = FIELD_LABELS.get(line.name)
  const value = formatFieldValue(line)
  if (label === undefined) return TECHNICAL_FIELDS.test(line.name)
  if (value === '' || /^base64$/i.test(line.parameters.get('ENCODING') ?? '')) return true
  const values = entry.fields.get(label) ?? []
  if (values.length < MAX_FIELD_VALUES) values.push(value)
  entry.fields.set(label, values)
  return true
}

function formatFieldValue({ name, parameters, value }: ContentLine): string {
  if (name === 'ORGANIZER' || name === 'ATTENDEE') {
    const address = value.replace(/^mailto:/i, '').trim()
    const commonName = parameters.get('CN')?.trim() ?? ''
    return commonName === '' || commonName === address ? address : `${commonName} <${address}>`
  }
  if (/^(?:DTSTART|DTEND|DUE|COMPLETED)$/.test(name)) return formatDate(value, parameters.get('TZID'))
  if (name === 'RRULE') return value.trim().toLowerCase().replaceAll(';', ', ').replaceAll('=', ' ')
  return name === 'CATEGORIES' || name === 'RESOURCES'
    ? splitValue(value).join(', ')
    : unescapeValue(value).replaceAll('\n', ' ')
}

/** `2024-05-01`, `2024-05-01 14:30 UTC`, `2024-05-01 14:30 (Europe/Berlin)` */
function formatDate(value: string, zone: string | undefined): string {
  const match = /^(\d{4})(\d{2})(\d{2})(?:T(\d{2})(\d{2})(\d{2})?(Z)?)?$/.exec(value.trim())
  if (match === null) return value.trim()
  const [, year, month, day, hour, minute, , utc] = match
  if (hour === undefined) return `${year}-${month}-${day}`
  const suffix = utc === 'Z' ? ' UTC' : zone === undefined ? '' : ` (${zone})`
  return `${year}-${month}-${day} ${hour}:${minute}${suffix}`
}

function toEntryBlocks({ kind, title, fields, description }: CalendarEntry): Block[] {
  const start = fields.get('Start')?.[0]
  const blocks: Block[] = [
    { type: 'heading', text: title === '' ? `${kind} ${start ?? ''}`.trim() : title, level: 1, tocSource: 'entry' },
  ]
  const rows = [...fields].map(([label, values]) => `${label}: ${values.join(', ')}`)
  if (rows.length > 0) blocks.push({ type: 'list', text: rows.join('\n') })
  if (description !== '') blocks.push({ type: 'paragraph', text: description })
  return blocks
}
