import { getDocumentProxy } from 'unpdf'
import { polyfillArrayBufferTransfer } from '../../../lib/array-buffers.js'
import { isRecord } from '../../../lib/json/values.js'
import { ReadError } from '../limits.js'
import { recogniseDoubtfulPages } from '../ocr/pages-to-read.js'
import type { Block, ParsedDocument, Parser, ParserInput } from '../parsed.js'
import { collectVocabulary } from './join-lines.js'
import { readAnnotations } from './pdf-annotations.js'
import { addAttachments } from './pdf-attachments.js'
import { type PdfBlock, pageBlocks, removeRunningLines } from './pdf-blocks.js'
import { markCode } from './pdf-code.js'
import { type Contents, readContents } from './pdf-contents.js'
import { findFigures, insertFigures } from './pdf-figures.js'
import { type Bookmark, insertBookmarks, markHeadings } from './pdf-headings.js'
import { readInfo, readPageLabels } from './pdf-info.js'
import { findNotes, moveNotes } from './pdf-notes.js'
import { markImpliedHeadings } from './pdf-outline.js'
import { insertRemarks } from './pdf-remarks.js'
import { keepShownTexts, readPages } from './read-pages.js'
import { joinTablesAcrossPages } from './table-pages.js'

type Pdf = Awaited<ReturnType<typeof getDocumentProxy>>

const MAX_BOOKMARKS = 10_000
const MAX_BOOKMARK_DEPTH = 8
/** With fewer bookmarks than one in this many pages, headings in the text refine them. */
const PAGES_PER_BOOKMARK = 15

/**
 * Reads the text layer of a PDF; pages without legible text are recognised by OCR. Runs no script of the file and
 * fetches no font or address.
 */
export const pdfParser: Parser = {
  async parse(input) {
    const pdf = await openPdf(input.bytes, input.filename)
    try {
      return await parsePdf(pdf, input)
    } finally {
      await pdf.destroy()
    }
  },
}

async function openPdf(bytes: Buffer, filename: string): Promise<Pdf> {
  polyfillArrayBufferTransfer()
  try {
    return await getDocumentProxy(new Uint8Array(bytes), {
      isEvalSupported: false,
      disableFontFace: true,
      useSystemFonts: false,
      // pictures are not needed here and must cost nothing
      maxImageSize: 1,
      enableXfa: false,
      verbosity: 0,
    })
  } catch (error) {
    const name = error instanceof Error ? error.name : ''
    if (name === 'PasswordException') {
      throw new ReadError('encrypted', `${filename} is protected by a password`, { cause: error })
    }
    const detail = error instanceof Error ? error.message : String(error)
    throw new ReadError('malformed', `${filename} is not a readable PDF: ${detail.slice(0, 200)}`, { cause: error })
  }
}

async function parsePdf(pdf: Pdf, { bytes, filename, limits, ocr, inside }: ParserInput): Promise<ParsedDocument> {
  if (pdf.numPages > limits.maxPages) {
    const pages = pdf.numPages.toLocaleString('en-US')
    const maxPages = limits.maxPages.toLocaleString('en-US')
    throw new ReadError('limit-exceeded', `${filename} has ${pages} pages, more than the limit of ${maxPages}`)
  }
  const annotations = await readAnnotations(pdf)
  const pages = await readPages(pdf, annotations)
  const printed = new Map(pages.map((page) => [page.lines, page.source]))
  const scans = await recogniseDoubtfulPages(bytes, filename, pages, ocr)
  const sourceTexts = pages.flatMap(({ lines, remarks }) => [
    ...(printed.get(lines) ?? []).map((text) => ({ text, construct: 'text' })),
    ...remarks.map(({ text }) => ({ text, construct: 'remarks' })),
  ])
  for (const page of pages) keepShownTexts(page)
  const broken = pages.filter((page) => page.broken && page.lines.length === 0).map(({ number }) => number)
  if (broken.length === pdf.numPages) throw new ReadError('malformed', `${filename} has no page that can be read`)
  const lines = pages.flatMap((page) => page.lines)
  removeRunningLines(pages)
  const kept = new Set(pages.flatMap((page) => page.lines))
  joinTablesAcrossPages(pages)
  const contents = readContents(pages)
  markCode(pages)
  findNotes(pages)
  const vocabulary = collectVocabulary(pages)
  const figures = await findFigures(bytes, filename, pages)
  const blocks = pages.flatMap((page) =>
    insertRemarks(
      insertFigures(moveNotes(pageBlocks(page, vocabulary)), figures.get(page.number) ?? [], page.number),
      page.remarks,
      page.number,
    ),
  )
  blocks.push(...(await addAttachments(pdf, annotations, inside)))
  if (!blocks.some(({ text }) => text !== '')) {
    const count = pdf.numPages === 1 ? 'on its page' : `on its ${pdf.numPages.toLocaleString('en-US')} pages`
    throw new ReadError('empty', `${filename} has no text ${count}, and OCR found none`)
  }
  const bookmarks = await readBookmarks(pdf)
  const info = await readInfo(pdf)
  const labels = await readPageLabels(pdf)
  for (const block of blocks) {
    const label = labels.get(block.pageNumber)
    if (label !== undefined) block.metadata = { ...block.metadata, pageLabel: label }
  }
  return {
    parser: 'unstructured',
    contentType: 'text',
    blocks: addSections(blocks, bookmarks, pdf.numPages, contents),
    leftOut: lines.filter((line) => !kept.has(line)),
    sourceTexts,
    ...info,
    metadata: {
      pageCount: pdf.numPages,
      ...scans.metadata,
      ...collectWarnings(broken, scans.failed, annotations.warnings),
    },
  }
}

function collectWarnings(
  broken: readonly number[],
  failed: readonly number[],
  others: readonly string[],
): { warnings?: string[] } {
  const list = (pages: readonly number[]): string => pages.slice(0, 20).join(', ')
  const failedOcr = failed.filter((page) => !broken.includes(page))
  const warnings = [
    ...(broken.length === 0 ? [] : [`pages that could not be read: ${list(broken)}`]),
    ...(failedOcr.length === 0 ? [] : [`pages on which OCR failed: ${list(failedOcr)}`]),
    ...others,
  ]
  return warnings.length === 0 ? {} : { warnings }
}

/** Sections by bookmarks, by headings or, when a long file has neither, by page. */
function addSections(blocks: PdfBlock[], bookmarks: Bookmark[], pageCount: number, contents: Contents): Block[] {
  if (bookmarks.length < Math.max(2, pageCount / PAGES_PER_BOOKMARK)) {
    const maxLevel = bookmarks.reduce((max, bookmark) => Math.max(max, bookmark.level), 0)
    markHeadings(blocks, maxLevel + 1)
    markImpliedHeadings(blocks, contents, bookmarks, maxLevel + 1)
  }
  const placed: Block[] = bookmarks.length > 0 ? insertBookmarks(blocks, bookmarks) : blocks
  if (pageCount === 1 || placed.some((block) => block.type === 'heading')) return placed
  const blocksWithPages: Block[] = []
  let page = 0
  for (const block of placed) {
    const number = block.pageNumber ?? page
    if (number !== page) {
      blocksWithPages.push({ type: 'heading', text: `Page ${number}`, level: 1, tocSource: 'page', silent: true })
    }
    page = number
    blocksWithPages.push(block)
  }
  return blocksWithPages
}

/**
 * The outline of the file, flat, in reading order. Entries without a destination get that of the next entry below them,
 * or are left out.
 */
async function readBookmarks(pdf: Pdf): Promise<Bookmark[]> {
  const bookmarks: Bookmark[] = []
  let page = 1
  const walk = async (items: unknown, level: number): Promise<void> => {
    if (!Array.isArray(items)) return
    for (const item of items) {
      if (bookmarks.length >= MAX_BOOKMARKS || !isRecord(item)) return
      const target = await resolveDestination(pdf, item.dest)
      page = Math.max(page, target?.page ?? page)
      const title = typeof item.title === 'string' ? item.title.trim() : ''
      const index = bookmarks.length
      if (title !== '') bookmarks.push({ title, level, page, ...(target?.y === undefined ? {} : { y: target.y }) })
      if (level < MAX_BOOKMARK_DEPTH) await walk(item.items, level + 1)
      if (target !== undefined || title === '') continue
      const next = bookmarks[index + 1]
      const entry = bookmarks[index]
      if (next === undefined || entry === undefined) bookmarks.length = index
      else entry.page = next.page
    }
  }
  try {
    await walk(await pdf.getOutline(), 1)
  } catch {
    return []
  }
  return bookmarks
}

async function resolveDestination(pdf: Pdf, dest: unknown): Promise<{ page: number; y?: number } | undefined> {
  try {
    const explicit: unknown = typeof dest === 'string' ? await pdf.getDestination(dest) : dest
    if (!Array.isArray(explicit)) return undefined
    const [reference, kind, , top]: unknown[] = explicit
    const page = await resolvePageNumber(pdf, reference)
    if (page === undefined || page < 1 || page > pdf.numPages) return undefined
    return isRecord(kind) && kind.name === 'XYZ' && typeof top === 'number' ? { page, y: top } : { page }
  } catch {
    return undefined
  }
}

async function resolvePageNumber(pdf: Pdf, reference: unknown): Promise<number | undefined> {
  if (typeof reference === 'number') return reference + 1
  if (!isRecord(reference) || typeof reference.num !== 'number' || typeof reference.gen !== 'number') return undefined
  return (await pdf.getPageIndex({ num: reference.num, gen: reference.gen })) + 1
}
