import { type CellObject, SSF } from '@e965/xlsx'

/** Year from which a workbook counts days. */
export type SheetEpoch = 1900 | 1904

/** Longer formats are ignored; programs do not write them. */
const MAX_FORMAT_LENGTH = 255
/** Number of digits that a spreadsheet stores exactly. */
const EXACT_DIGITS = 15
/** Cache: whether a number format displays dates. */
const dateFormats = new Map<string, boolean>()
const MAX_CACHED_FORMATS = 1000

/**
 * Formats a cell as a reader of the sheet sees it, except dates and times in ISO form and plain numbers in full
 * precision.
 *
 * @param exact digits of an integer that is too long for a number
 */
export function formatCell(cell: CellObject, epoch: SheetEpoch, exact?: string): string {
  const { t, v } = cell
  if (t === 'e') return cell.w ?? ''
  if (typeof v === 'boolean') return v ? 'TRUE' : 'FALSE'
  if (v instanceof Date) return Number.isNaN(v.getTime()) ? '' : v.toISOString()
  if (typeof v !== 'number') return v ?? ''
  const format = typeof cell.z === 'string' && cell.z.length <= MAX_FORMAT_LENGTH ? cell.z : undefined
  const isWhole = format === undefined || /^(?:General|@|0+)$/.test(format)
  if (exact !== undefined && isWhole) return exact
  if (format !== undefined && isDateFormat(format) && !isPartOfDate(format))
    return formatDate(v, epoch) ?? cell.w ?? String(v)
  const shown = cell.w?.trim()
  const isPlain =
    format === undefined || format === 'General' || shown === undefined || shown === '' || /^#+$/.test(shown)
  return isPlain ? String(Number(v.toPrecision(EXACT_DIGITS))) : shown
}

/** Whether a format displays dates. Elapsed time (`[h]:mm`) is an amount, not a date. */
function isDateFormat(format: string): boolean {
  const cached = dateFormats.get(format)
  if (cached !== undefined) return cached
  const isDate = !/\[(?:h+|m+|s+)\]/i.test(format) && Boolean(SSF.is_date(format))
  if (dateFormats.size < MAX_CACHED_FORMATS) dateFormats.set(format, isDate)
  return isDate
}

/** Whether a format displays a month or a year without a day: the day that is stored with it means nothing. */
function isPartOfDate(format: string): boolean {
  const codes = format.replace(/"[^"]*"|\\.|\[[^\]]*\]/g, '')
  return /[my]/i.test(codes) && !/[dhs]/i.test(codes)
}

/** `2023-06-30`, `2023-06-30T14:05:00`, `14:05:00`; undefined for numbers outside the calendar. */
function formatDate(serial: number, epoch: SheetEpoch): string | undefined {
  const parts: { y: number; m: number; d: number; H: number; M: number; S: number } | null = SSF.parse_date_code(
    serial,
    { date1904: epoch === 1904 },
  )
  if (parts === null || serial < 0) return undefined
  const time = `${padToTwo(parts.H)}:${padToTwo(parts.M)}:${padToTwo(parts.S)}`
  if (serial < 1) return time
  const date = `${String(parts.y).padStart(4, '0')}-${padToTwo(parts.m)}-${padToTwo(parts.d)}`
  return time === '00:00:00' ? date : `${date}T${time}`
}

function padToTwo(value: number): string {
  return String(value).padStart(2, '0')
}

/** The name of a cell by its row and column, which count from 0: `C1`, `AA12`. */
export function formatCellName(row: number, column: number): string {
  let letters = ''
  for (let remaining = column + 1; remaining > 0; remaining = Math.floor((remaining - 1) / 26))
    letters = String.fromCharCode(65 + ((remaining - 1) % 26)) + letters
  return `${letters}${row + 1}`
}
