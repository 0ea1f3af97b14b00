import { type CellObject, SSF } from '@e965/xlsx'

/** Longer formats are ignored; programs do not write them. */
const MAX_FORMAT = 255
/** Number of digits that a spreadsheet stores exactly. */
const DIGITS = 15
/** Cache: whether a number format displays dates. */
const dateFormats = new Map<string, boolean>()
const MAX_KNOWN_FORMATS = 1000

/**
 * Formats a cell as a reader of the sheet sees it, except dates and times in ISO form and plain numbers in full
 * precision.
 *
 * @param date1904 whether the workbook counts days from 1904
 */
export function cellText(cell: CellObject, date1904: boolean): string {
  const { t, v } = cell
  if (t === 'e') return cell.w ?? ''
  if (typeof v === 'boolean') return v ? 'TRUE' : 'FALSE'
  if (v instanceof Date) return Number.isNaN(v.getTime()) ? '' : v.toISOString()
  if (typeof v !== 'number') return v ?? ''
  const format = typeof cell.z === 'string' && cell.z.length <= MAX_FORMAT ? cell.z : undefined
  if (format !== undefined && isDateFormat(format)) return dateText(v, date1904) ?? cell.w ?? String(v)
  const shown = cell.w?.trim()
  const plain =
    format === undefined || format === 'General' || shown === undefined || shown === '' || /^#+$/.test(shown)
  return plain ? String(Number(v.toPrecision(DIGITS))) : shown
}

/** Whether a format displays dates. Elapsed time (`[h]:mm`) is an amount, not a date. */
function isDateFormat(format: string): boolean {
  const known = dateFormats.get(format)
  if (known !== undefined) return known
  const dated = !/\[(?:h+|m+|s+)\]/i.test(format) && Boolean(SSF.is_date(format))
  if (dateFormats.size < MAX_KNOWN_FORMATS) dateFormats.set(format, dated)
  return dated
}

/** `2023-06-30`, `2023-06-30T14:05:00`, `14:05:00`; undefined for numbers outside the calendar. */
function dateText(serial: number, date1904: boolean): string | undefined {
  const parts: { y: number; m: number; d: number; H: number; M: number; S: number } | null = SSF.parse_date_code(
    serial,
    {
      date1904,
    },
  )
  if (parts === null || serial < 0) return undefined
  const time = `${two(parts.H)}:${two(parts.M)}:${two(parts.S)}`
  if (serial < 1) return time
  const date = `${String(parts.y).padStart(4, '0')}-${two(parts.m)}-${two(parts.d)}`
  return time === '00:00:00' ? date : `${date}T${time}`
}

function two(value: number): string {
  return String(value).padStart(2, '0')
}

/** The name of a cell by its row and column, which count from 0: `C1`, `AA12`. */
export function cellName(row: number, column: number): string {
  let letters = ''
  for (let left = column + 1; left > 0; left = Math.floor((left - 1) / 26))
    letters = String.fromCharCode(65 + ((left - 1) % 26)) + letters
  return `${letters}${row + 1}`
}
