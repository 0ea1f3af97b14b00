import { defined } from '../../../lib/defined.js'
import { ReadError } from '../limits.js'
import type { Block, Parsed, Parser, ParserInput } from '../parsed.js'
import { type ContentLine, contentLines, textValue, valueParts } from './content-lines.js'

/** Labels of the entries of a calendar. */
const ENTRIES = new Map([
  ['VEVENT', 'Event'],
  ['VTODO', 'Task'],
  ['VJOURNAL', 'Journal'],
])
const FIELDS = new Map([
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
])
/** Bounds of the entries of one file, and of the values of one field. */
const MAX_ENTRIES = 100_000
const MAX_ATTENDEES = 200

/** Reads calendars (RFC 5545): each event, task and journal entry is a section with its fields. */
export const calendarParser: Parser = {
  accepts: (mediaType) => mediaType === 'text/calendar',
  parse: parseCalendar,
}

interface Entry {
  kind: string
  title: string
  fields: Map<string, string[]>
  description: string
}

function parseCalendar(input: ParserInput): Parsed {
  const { entries, title } = entriesOf(input.text())
  if (entries.length === 0) throw new ReadError('empty', `${input.filename} has no events`)
  return {
    parser: 'native-structured',
    contentType: 'structured',
    ...defined({ title }),
    blocks: entries.flatMap(entryBlocks),
    metadata: { entryCount: entries.length },
  }
}

function entriesOf(text: string): { entries: Entry[]; title: string | undefined } {
  const entries: Entry[] = []
  let title: string | undefined
  let entry: Entry | undefined
  /** depth of components within an entry (alarms), which are ignored */
  let inner = 0
  for (const line of contentLines(text)) {
    if (line.name === 'BEGIN') {
      const kind = ENTRIES.get(line.value.trim().toUpperCase())
      if (entry !== undefined) inner++
      else if (kind !== undefined) entry = { kind, title: '', fields: new Map(), description: '' }
    } else if (line.name === 'END') {
      if (inner > 0) inner--
      else if (entry !== undefined) {
        if (entries.length < MAX_ENTRIES) entries.push(entry)
        entry = undefined
      }
    } else if (entry === undefined) {
      if (line.name === 'X-WR-CALNAME' || line.name === 'NAME') title ??= textValue(line.value)
    } else if (inner === 0) addLine(entry, line)
  }
  return { entries, title }
}

function addLine(entry: Entry, line: ContentLine): void {
  if (line.name === 'SUMMARY') entry.title = textValue(line.value).replace(/\s+/g, ' ')
  else if (line.name === 'DESCRIPTION') entry.description = textValue(line.value)
  const label = FIELDS.get(line.name)
  const value = fieldValue(line)
  if (label === undefined || value === '') return
  const held = entry.fields.get(label) ?? []
  if (held.length < MAX_ATTENDEES) held.push(value)
  entry.fields.set(label, held)
}

function fieldValue({ name, parameters, value }: ContentLine): string {
  if (name === 'ORGANIZER' || name === 'ATTENDEE') {
    const address = value.replace(/^mailto:/i, '').trim()
    const shown = parameters.get('CN')?.trim() ?? ''
    return shown === '' || shown === address ? address : `${shown} <${address}>`
  }
  if (/^(?:DTSTART|DTEND|DUE|COMPLETED)$/.test(name)) return dateValue(value, parameters.get('TZID'))
  if (name === 'RRULE') return value.trim().toLowerCase().replaceAll(';', ', ').replaceAll('=', ' ')
  return name === 'CATEGORIES' || name === 'RESOURCES'
    ? valueParts(value).join(', ')
    : textValue(value).replaceAll('\n', ' ')
}

/** `2024-05-01`, `2024-05-01 14:30 UTC`, `2024-05-01 14:30 (Europe/Berlin)` */
function dateValue(value: string, zone: string | undefined): string {
  const found = /^(\d{4})(\d{2})(\d{2})(?:T(\d{2})(\d{2})(\d{2})?(Z)?)?$/.exec(value.trim())
  if (found === null) return value.trim()
  const [, year, month, day, hour, minute, , utc] = found
  if (hour === undefined) return `${year}-${month}-${day}`
  const suffix = utc === 'Z' ? ' UTC' : zone === undefined ? '' : ` (${zone})`
  return `${year}-${month}-${day} ${hour}:${minute}${suffix}`
}

function entryBlocks({ kind, title, fields, description }: Entry): Block[] {
  const start = fields.get('Start')?.[0]
  const blocks: Block[] = [
    { type: 'heading', text: title === '' ? `${kind} ${start ?? ''}`.trim() : title, level: 1, tocSource: 'entry' },
  ]
  const rows = [...fields].map(([label, values]) => `${label}: ${values.join(', ')}`)
  if (rows.length > 0) blocks.push({ type: 'list', text: rows.join('\n') })
  if (description !== '') blocks.push({ type: 'paragraph', text: description })
  return blocks
}
