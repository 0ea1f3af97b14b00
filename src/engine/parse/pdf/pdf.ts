import { getDocumentProxy } from 'unpdf'
import { defined } from '../../../lib/defined.js'
import { isRecord } from '../../../lib/json/values.js'
import { ReadError, type ReadLimits } from '../limits.js'
import type { Block, Parsed, Parser } from '../parsed.js'
import { dropRunningLines, type PdfBlock, type PdfPage, pageBlocks, vocabularyOf } from './pdf-blocks.js'
import { type Bookmark, markHeadings, placeBookmarks } from './pdf-headings.js'
import { readLines } from './pdf-lines.js'
import { joinOverPages, shownBox, tablesOf, textRuns } from './table-pages.js'

type Pdf = Awaited<ReturnType<typeof getDocumentProxy>>

const MAX_BOOKMARKS = 10_000
const MAX_BOOKMARK_DEPTH = 8
/** With fewer bookmarks than one in so many pages, headings in the text refine them. */
const PAGES_PER_BOOKMARK = 15

/** Reads the text layer of a PDF. Nothing is rendered, no script of the file runs, no font or address is fetched. */
export const pdfParser: Parser = {
  accepts: (mediaType) => mediaType === 'application/pdf',
  async parse(input) {
    const pdf = await open(input.bytes, input.filename)
    try {
      return await read(pdf, input.filename, input.limits)
    } finally {
      await pdf.destroy()
    }
  },
}

async function open(bytes: Buffer, filename: string): Promise<Pdf> {
  try {
    return await getDocumentProxy(new Uint8Array(bytes), {
      isEvalSupported: false,
      disableFontFace: true,
      useSystemFonts: false,
      enableXfa: false,
      // Lists of operators are read for the lines in them; no picture is decoded on the way.
      maxImageSize: 1,
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

async function read(pdf: Pdf, filename: string, limits: ReadLimits): Promise<Parsed> {
  if (pdf.numPages > limits.maxPages) {
    const pages = pdf.numPages.toLocaleString('en-US')
    const most = limits.maxPages.toLocaleString('en-US')
    throw new ReadError('limit-exceeded', `${filename} has ${pages} pages, more than the limit of ${most}`)
  }
  const { pages, broken } = await readPages(pdf)
  if (broken.length === pdf.numPages) throw new ReadError('malformed', `${filename} has no page that can be read`)
  dropRunningLines(pages)
  joinOverPages(pages)
  const vocabulary = vocabularyOf(pages)
  const blocks = pages.flatMap((page) => pageBlocks(page, vocabulary))
  if (blocks.length === 0) {
    const count = pdf.numPages === 1 ? 'its page is a picture' : `its ${pdf.numPages} pages are pictures`
    throw new ReadError('empty', `${filename} has no text layer: ${count}, and text in pictures cannot be read yet`)
  }
  const bookmarks = await readBookmarks(pdf)
  const info = await readInfo(pdf)
  return {
    parser: 'unstructured',
    contentType: 'text',
    blocks: withSections(blocks, bookmarks, pdf.numPages),
    ...defined({ title: info.title }),
    metadata: {
      pageCount: pdf.numPages,
      ...defined({ author: info.author }),
      ...(broken.length === 0 ? {} : { warnings: [`pages that could not be read: ${broken.slice(0, 20).join(', ')}`] }),
    },
  }
}

async function readPages(pdf: Pdf): Promise<{ pages: PdfPage[]; broken: number[] }> {
  const pages: PdfPage[] = []
  const broken: number[] = []
  for (let number = 1; number <= pdf.numPages; number++) {
    try {
      const page = await pdf.getPage(number)
      const runs = textRuns(await page.getTextContent())
      const tables = await tablesOf(page, runs)
      const shown = page.getViewport({ scale: 1 })
      for (const table of tables) table.shown = shownBox(table.box, (x, y) => shown.convertToViewportPoint(x, y))
      pages.push({ number, lines: readLines(runs, tables) })
      page.cleanup()
    } catch {
      broken.push(number)
    }
  }
  return { pages, broken }
}

/** Sections by bookmarks, by size of the headings, or, when a long file has neither, by page. */
function withSections(blocks: PdfBlock[], bookmarks: Bookmark[], pageCount: number): Block[] {
  if (bookmarks.length < Math.max(2, pageCount / PAGES_PER_BOOKMARK)) {
    const deepest = bookmarks.reduce((most, bookmark) => Math.max(most, bookmark.level), 0)
    markHeadings(blocks, deepest + 1)
  }
  const placed: Block[] = bookmarks.length > 0 ? placeBookmarks(blocks, bookmarks) : blocks
  if (pageCount === 1 || placed.some((block) => block.type === 'heading')) return placed
  const paged: Block[] = []
  let page = 0
  for (const block of placed) {
    const number = block.pageNumber ?? page
    if (number !== page) {
      paged.push({ type: 'heading', text: `Page ${number}`, level: 1, tocSource: 'page', silent: true })
    }
    page = number
    paged.push(block)
  }
  return paged
}

/** The file's own outline, flat, in reading order; entries that lead nowhere, and have none below that do, go. */
async function readBookmarks(pdf: Pdf): Promise<Bookmark[]> {
  const bookmarks: Bookmark[] = []
  let page = 1
  const walk = async (items: unknown, level: number): Promise<void> => {
    if (!Array.isArray(items)) return
    for (const item of items) {
      if (bookmarks.length >= MAX_BOOKMARKS || !isRecord(item)) return
      const target = await destination(pdf, item.dest)
      page = Math.max(page, target?.page ?? page)
      const title = typeof item.title === 'string' ? item.title.trim() : ''
      const place = bookmarks.length
      if (title !== '') bookmarks.push({ title, level, page, ...(target?.y === undefined ? {} : { y: target.y }) })
      if (level < MAX_BOOKMARK_DEPTH) await walk(item.items, level + 1)
      if (target !== undefined || title === '') continue
      const below = bookmarks[place + 1]
      const own = bookmarks[place]
      if (below === undefined || own === undefined) bookmarks.length = place
      else own.page = below.page
    }
  }
  try {
    await walk(await pdf.getOutline(), 1)
  } catch {
    return []
  }
  return bookmarks
}

async function destination(pdf: Pdf, dest: unknown): Promise<{ page: number; y?: number } | undefined> {
  try {
    const explicit: unknown = typeof dest === 'string' ? await pdf.getDestination(dest) : dest
    if (!Array.isArray(explicit)) return undefined
    const [reference, kind, , top]: unknown[] = explicit
    const page = await pageOf(pdf, reference)
    if (page === undefined || page < 1 || page > pdf.numPages) return undefined
    return isRecord(kind) && kind.name === 'XYZ' && typeof top === 'number' ? { page, y: top } : { page }
  } catch {
    return undefined
  }
}

async function pageOf(pdf: Pdf, reference: unknown): Promise<number | undefined> {
  if (typeof reference === 'number') return reference + 1
  if (!isRecord(reference) || typeof reference.num !== 'number' || typeof reference.gen !== 'number') return undefined
  return (await pdf.getPageIndex({ num: reference.num, gen: reference.gen })) + 1
}

async function readInfo(pdf: Pdf): Promise<{ title?: string; author?: string }> {
  try {
    const { info }: { info: unknown } = await pdf.getMetadata()
    if (!isRecord(info)) return {}
    const title = typeof info.Title === 'string' && isTitle(info.Title) ? info.Title.trim() : undefined
    const author = typeof info.Author === 'string' && info.Author.trim() !== '' ? info.Author.trim() : undefined
    return { ...defined({ title, author }) }
  } catch {
    return {}
  }
}

/** Writers put their own name, a file name or nothing into the title of a PDF; those are no titles. */
function isTitle(title: string): boolean {
  const text = title.trim()
  if (text.length < 4 || text.length > 200 || !/\p{L}{3}/u.test(text)) return false
  if (/^(?:microsoft (?:word|powerpoint|excel)|untitled|document\d*$|slide 1$)/i.test(text)) return false
  return !/\.(?:docx?|pptx?|xlsx?|pdf|indd|qxd|tex|dvi|rtf|odt|html?|fm)$/i.test(text) && !/[\\/]{1}\S+[\\/]/.test(text)
}
