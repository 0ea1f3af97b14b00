const number = new Intl.NumberFormat('en')
const day = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short', year: 'numeric' })
const moment = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'short' })
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'long' })

const UNITS = ['B', 'KB', 'MB', 'GB', 'TB']
const UNIT_FACTOR = 1000

export function formatCount(value: number): string {
  return number.format(value)
}

/** `3 documents`, `1 document` */
export function plural(count: number, singular: string, pluralForm = `${singular}s`): string {
  return `${formatCount(count)} ${count === 1 ? singular : pluralForm}`
}

export function formatBytes(bytes: number): string {
  let value = bytes
  let unit = 0
  while (value >= UNIT_FACTOR && unit < UNITS.length - 1) {
    value /= UNIT_FACTOR
    unit++
  }
  return `${value >= 100 || unit === 0 ? Math.round(value) : value.toFixed(1)} ${UNITS[unit]}`
}

export function formatMs(ms: number): string {
  if (ms < 0.005) return '0 ms'
  if (ms < 1) return `${ms.toFixed(2)} ms`
  if (ms < UNIT_FACTOR) return `${Math.round(ms)} ms`
  if (ms < 60 * UNIT_FACTOR) return `${(ms / UNIT_FACTOR).toFixed(1)} s`
  return `${Math.floor(ms / 60 / UNIT_FACTOR)} min ${Math.round((ms / UNIT_FACTOR) % 60)} s`
}

export function formatDay(time: string | number): string {
  return day.format(new Date(time))
}

export function formatMoment(time: string | number): string {
  return moment.format(new Date(time))
}

const RELATIVE_UNITS: readonly [seconds: number, unit: Intl.RelativeTimeFormatUnit][] = [
  [365 * 86_400, 'year'],
  [30 * 86_400, 'month'],
  [86_400, 'day'],
  [3_600, 'hour'],
  [60, 'minute'],
]

/** `2 hours ago` */
export function formatAgo(time: string | number): string {
  const seconds = (new Date(time).getTime() - Date.now()) / 1000
  for (const [size, unit] of RELATIVE_UNITS)
    if (Math.abs(seconds) >= size) return relative.format(Math.round(seconds / size), unit)
  return 'just now'
}

const FILE_KINDS: readonly [typeSuffix: string, kind: string][] = [
  ['wordprocessingml.document', 'Word document'],
  ['spreadsheetml.sheet', 'Excel workbook'],
  ['presentationml.presentation', 'PowerPoint slides'],
  ['msword', 'Word document'],
  ['ms-excel', 'Excel workbook'],
  ['ms-powerpoint', 'PowerPoint slides'],
  ['ms-outlook', 'Outlook mail'],
  ['opendocument.text', 'OpenDocument text'],
  ['opendocument.spreadsheet', 'OpenDocument spreadsheet'],
  ['opendocument.presentation', 'OpenDocument slides'],
  ['application/pdf', 'PDF'],
  ['text/html', 'web page'],
  ['text/markdown', 'Markdown'],
  ['text/plain', 'text'],
  ['text/csv', 'CSV'],
  ['message/rfc822', 'mail'],
  ['epub+zip', 'EPUB'],
  ['/json', 'JSON'],
  ['/xml', 'XML'],
  ['/rtf', 'RTF'],
]

/** Plain name of a media type; the media type itself if there is none. */
export function formatKind(mimeType: string): string {
  const [type = ''] = mimeType.split(';')
  if (type.startsWith('image/')) return `picture, ${type.slice('image/'.length).toUpperCase()}`
  return FILE_KINDS.find(([suffix]) => type.endsWith(suffix))?.[1] ?? type
}

/** Splits a path into its folder, with the trailing slash, and its last segment. */
export function splitPath(path: string): { folder: string; name: string } {
  const nameStart = path.lastIndexOf('/') + 1
  return { folder: path.slice(0, nameStart), name: path.slice(nameStart) }
}

/** Splits a text into its parts without white space around them; omits empty parts. */
export function splitTrimmed(text: string, separator: string): string[] {
  return text
    .split(separator)
    .map((part) => part.trim())
    .filter((part) => part !== '')
}

/** `page 3 › Harbour › Fees` */
export function formatLocation(pageNumber: number | undefined, sectionPath: readonly string[]): string {
  return [pageNumber === undefined ? '' : `page ${pageNumber}`, ...sectionPath]
    .filter((part) => part !== '')
    .join(' › ')
}
