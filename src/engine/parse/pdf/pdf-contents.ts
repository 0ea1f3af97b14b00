import { headingNumber, isWorded } from '../heading-numbers.js'
import { lettersOf } from '../implied-headings.js'
import type { PdfPage } from './pdf-blocks.js'
import type { PdfLine } from './pdf-lines.js'

/** A line of a table of contents. */
export interface ContentsEntry {
  title: string
  /** Letters and digits of the title. */
  key: string
  /** Level by indentation; 1 is the outermost. */
  level: number
}

/** A table of contents is at the front: within this number of pages, or this fraction of the document. */
const FRONT_PAGES = 12
const FRONT_SHARE = 0.1
const MIN_ENTRIES = 5
/** Minimal fraction of the lines of a contents page that end with a page number. */
const MIN_SHARE = 0.3
const MAX_LEVELS = 4
const ENTRY = /^(.{3,250}?)(?:[\s.·…_–-]{2,}|\s)(?:pages?\s)?(?:(?:[A-Z]-)?(\d{1,4})|[ivxl]{1,6}|N\/A)$/u

interface Listed {
  title: string
  left: number
  /** Absent for Roman page numbers. */
  page: number | undefined
}

export interface Contents {
  /** Numbers of the pages that contain the table of contents. */
  pages: ReadonlySet<number>
  entries: ContentsEntry[]
}

/** Reads the table of contents of a document from its pages. */
export function readContents(pages: readonly PdfPage[]): Contents {
  const listing = new Set<number>()
  const lines: Listed[] = []
  const front = Math.max(FRONT_PAGES, Math.ceil(pages.length * FRONT_SHARE))
  for (const page of pages.slice(0, front)) {
    // a number far beyond the last page is, for example, a year
    const found = entriesOf(page.lines).filter((entry) => (entry.page ?? 0) <= pages.length + 20)
    const numbers = found.flatMap((entry) => entry.page ?? [])
    const rising = numbers.filter((number, place) => place === 0 || number >= (numbers[place - 1] ?? 0)).length
    if (found.length < MIN_ENTRIES || rising < numbers.length * 0.8) continue
    const named = page.lines.some((line) =>
      /^(?:table of )?contents$|^inhalt|^table des mati|^sommaire|^índice|^indice|^index$/i.test(line.text),
    )
    if (!named && !listing.has(page.number - 1) && found.length < page.lines.length * 0.6) continue
    if (found.length < page.lines.length * MIN_SHARE || (numbers[numbers.length - 1] ?? 0) <= page.number - 1) continue
    listing.add(page.number)
    lines.push(...found)
  }
  const lefts = clusters(lines.map(({ left }) => left))
  const entries = lines.map(({ title, left }) => ({
    title,
    key: lettersOf(title),
    level: Math.min(
      MAX_LEVELS,
      1 +
        Math.max(
          0,
          lefts.findIndex((edge) => Math.abs(edge - left) < 6),
        ),
    ),
  }))
  return { pages: listing, entries: entries.filter(({ key }) => key.length >= 3) }
}

/** Parses the entries of a page; an entry of several lines has its number on the last one. */
function entriesOf(lines: readonly PdfLine[]): Listed[] {
  const entries: Listed[] = []
  let held: PdfLine[] = []
  for (const line of lines) {
    const found = ENTRY.exec(line.text)
    const title = found?.[1]?.replace(/[\s.·…_–-]+$/, '') ?? ''
    if (found === null || !/\p{L}{2}/u.test(title)) {
      const begins = isWorded(headingNumber(line.text)) || held.length > 0
      held = begins && held.length < 3 && !/^part\s+[ivx]+$/i.test(line.text) ? [...held, line] : []
      continue
    }
    const own = isWorded(headingNumber(title)) || held.length === 0
    const whole = own ? title : `${held.map(({ text }) => text).join(' ')} ${title}`
    const left = own ? line.left : (held[0]?.left ?? line.left)
    entries.push({ title: whole, left, page: found[2] === undefined ? undefined : Number(found[2]) })
    held = []
  }
  return entries
}

/** Distinct left edges from left to right; close ones are merged. */
function clusters(lefts: readonly number[]): number[] {
  const edges: number[] = []
  for (const left of [...lefts].sort((a, b) => a - b)) {
    if (edges.every((edge) => Math.abs(edge - left) >= 6)) edges.push(left)
  }
  return edges
}
