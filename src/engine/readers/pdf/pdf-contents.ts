import { hasKindWord, parseHeadingNumber } from '../heading-numbers.js'
import { toComparisonKey } from '../implied-headings.js'
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
const FRONT_FRACTION = 0.1
const MIN_ENTRIES = 5
/** Minimal fraction of the lines of a contents page that end with a page number. */
const MIN_ENTRY_FRACTION = 0.3
const MAX_LEVELS = 4
const ENTRY = /^(.{3,250}?)(?:[\s.·…_–-]{2,}|\s)(?:pages?\s)?(?:(?:[A-Z]-)?(\d{1,4})|[ivxl]{1,6}|N\/A)$/u

interface ContentsLine {
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
  const contentsPages = new Set<number>()
  const lines: ContentsLine[] = []
  const front = Math.max(FRONT_PAGES, Math.ceil(pages.length * FRONT_FRACTION))
  for (const page of pages.slice(0, front)) {
    // a number far beyond the last page is, for example, a year
    const pageEntries = parseEntries(page.lines).filter((entry) => (entry.page ?? 0) <= pages.length + 20)
    const numbers = pageEntries.flatMap((entry) => entry.page ?? [])
    const rising = numbers.filter((number, index) => index === 0 || number >= (numbers[index - 1] ?? 0)).length
    if (pageEntries.length < MIN_ENTRIES || rising < numbers.length * 0.8) continue
    const hasContentsTitle = page.lines.some((line) =>
      /^(?:table of )?contents$|^inhalt|^table des mati|^sommaire|^índice|^indice|^index$/i.test(line.text),
    )
    if (!hasContentsTitle && !contentsPages.has(page.number - 1) && pageEntries.length < page.lines.length * 0.6)
      continue
    if (
      pageEntries.length < page.lines.length * MIN_ENTRY_FRACTION ||
      (numbers[numbers.length - 1] ?? 0) <= page.number - 1
    )
      continue
    contentsPages.add(page.number)
    lines.push(...pageEntries)
  }
  const lefts = clusterEdges(lines.map(({ left }) => left))
  const entries = lines.map(({ title, left }) => ({
    title,
    key: toComparisonKey(title),
    level: Math.min(
      MAX_LEVELS,
      1 +
        Math.max(
          0,
          lefts.findIndex((edge) => Math.abs(edge - left) < 6),
        ),
    ),
  }))
  return { pages: contentsPages, entries: entries.filter(({ key }) => key.length >= 3) }
}

/** Parses the entries of a page; an entry of several lines has its number on the last one. */
function parseEntries(lines: readonly PdfLine[]): ContentsLine[] {
  const entries: ContentsLine[] = []
  let pendingLines: PdfLine[] = []
  for (const line of lines) {
    const match = ENTRY.exec(line.text)
    const title = match?.[1]?.replace(/[\s.·…_–-]+$/, '') ?? ''
    if (match === null || !/\p{L}{2}/u.test(title)) {
      const begins = hasKindWord(parseHeadingNumber(line.text)) || pendingLines.length > 0
      pendingLines =
        begins && pendingLines.length < 3 && !/^part\s+[ivx]+$/i.test(line.text) ? [...pendingLines, line] : []
      continue
    }
    const isComplete = hasKindWord(parseHeadingNumber(title)) || pendingLines.length === 0
    const fullTitle = isComplete ? title : `${pendingLines.map(({ text }) => text).join(' ')} ${title}`
    const left = isComplete ? line.left : (pendingLines[0]?.left ?? line.left)
    entries.push({ title: fullTitle, left, page: match[2] === undefined ? undefined : Number(match[2]) })
    pendingLines = []
  }
  return entries
}

/** Distinct left edges from left to right; close ones are merged. */
function clusterEdges(lefts: readonly number[]): number[] {
  const edges: number[] = []
  for (const left of [...lefts].sort((a, b) => a - b)) {
    if (edges.every((edge) => Math.abs(edge - left) >= 6)) edges.push(left)
  }
  return edges
}
