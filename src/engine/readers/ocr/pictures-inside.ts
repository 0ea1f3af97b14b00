import { isRecord } from '../../../lib/json/values.js'
import type { OcrRequest, RecognisedLine, RecognisedPage } from '../../store/recognised-pages.js'
import type { Block, ParsedDocument, ParserInput } from '../parsed.js'
import { isFigureCaption } from '../picture/captions.js'
import { hashPicture } from '../picture/key.js'
import { type PixelSize, readPixelSize } from '../picture/size.js'
import { OcrBudget } from './budget.js'
import { countLetters } from './page-text.js'
import type { KeyedPicture, LocalPicture } from './read-picture.js'

/**
 * Processor time for the pictures of one document, in addition to that of its pages; the other pictures are recognised
 * in the background after its publication.
 */
const BUDGET_MS = 4000
/** Maximal number of pictures of one document, the first ones of it. */
const MAX_PICTURES = 200
/** Results for pictures are stored together with those of pages: their numbers begin here. */
const FIRST_PICTURE_NUMBER = 1_000_000
/** Icons, buttons and ornaments are narrower, lower or smaller in area than this, in pixels. */
const MIN_SIZE_PX = { width: 80, height: 28, area: 8000 }
/**
 * Text that a photograph seems to contain has low confidence or few letters: minimal confidence of a line and of all
 * lines, in percent, and minimal number of letters.
 */
const MIN_LINE_CONFIDENCE = 55
const MIN_CONFIDENCE = 65
const MIN_LETTERS = 10

interface OcrCandidate extends KeyedPicture {
  block: Block
}

/**
 * Recognises the text in the pictures of a document and adds it to the texts of the pictures, so that search finds
 * their passages. Each picture is recognised once, wherever it occurs. Skips icons, pictures that cannot contain words,
 * and those recognised as part of a page.
 *
 * @returns results of this run, to be stored for the next
 */
export async function recognisePicturesInside(
  parsed: ParsedDocument,
  { bytes, filename, ocr: pages }: Pick<ParserInput, 'bytes' | 'filename' | 'ocr'>,
  request: OcrRequest,
): Promise<RecognisedPage[]> {
  const candidates = findCandidates(parsed.blocks, pages)
  if (candidates.length === 0) return []
  const budget = new OcrBudget(
    { ...request, budgetMs: Math.min(BUDGET_MS, request.budgetMs), known: renumberKnown(request.known, candidates) },
    { hasText: parsed.blocks.some(({ text, silent }) => text.trim() !== '' && silent !== true) },
  )
  const { PictureReader, separateTables } = await import('./read-picture.js')
  const reader = new PictureReader(bytes, filename, budget)
  const read: RecognisedPage[] = []
  const tables = new Map<Block, Block[]>()
  try {
    for (const [index, candidate] of candidates.entries()) {
      const found = await reader.read(candidate, FIRST_PICTURE_NUMBER + index)
      if (reader.failure !== undefined) break
      const lines = found?.lines.filter(isConfident) ?? []
      if (found === undefined || !isText(lines, found)) continue
      const separated = separateTables({ ...found, lines }, candidate.block)
      if (separated.tables.length > 0) tables.set(candidate.block, separated.tables)
      addText(candidate.block, lines, separated.text)
      read.push(found)
    }
  } finally {
    reader.close()
  }
  if (tables.size > 0) parsed.blocks = insertTables(parsed.blocks, tables)
  reportInMetadata(parsed, read, budget.waiting.length, reader.failure)
  return budget.fresh
}

function findCandidates(blocks: readonly Block[], pages: OcrBudget): OcrCandidate[] {
  const candidates = new Map<string, OcrCandidate>()
  for (const block of blocks) {
    const { picture } = block
    if (candidates.size === MAX_PICTURES) break
    if (picture === undefined || 'uri' in picture || !mayContainText(picture, pages)) continue
    const key = 'bytes' in picture ? hashPicture(picture.bytes) : `${picture.page}:${JSON.stringify(picture.drawn)}`
    if (!candidates.has(key)) candidates.set(key, { block, picture, key })
  }
  return [...candidates.values()]
}

function mayContainText(picture: LocalPicture, pages: OcrBudget): boolean {
  if ('drawn' in picture)
    return picture.isPainted === true && !pages.wasRequested(picture.page) && isLarge(picture.drawn)
  const size = readPixelSize(picture.bytes)
  return size !== undefined && isLarge(size)
}

function isLarge({ width, height }: PixelSize): boolean {
  return width >= MIN_SIZE_PX.width && height >= MIN_SIZE_PX.height && width * height >= MIN_SIZE_PX.area
}

/** Known results, renumbered to the current indexes of their pictures. */
function renumberKnown(known: readonly RecognisedPage[] = [], candidates: readonly OcrCandidate[]): RecognisedPage[] {
  const byKey = new Map(known.flatMap((page) => (page.picture === undefined ? [] : [[page.picture, page]])))
  return candidates.flatMap(({ key }, index) => {
    const page = byKey.get(key)
    return page === undefined ? [] : [{ ...page, page: FIRST_PICTURE_NUMBER + index }]
  })
}

function isConfident([, , , , , confidences]: RecognisedLine): boolean {
  return confidences.reduce((sum, confidence) => sum + confidence, 0) >= MIN_LINE_CONFIDENCE * confidences.length
}

/** Whether lines are written words rather than, for example, branches of a tree. */
function isText(lines: readonly RecognisedLine[], { confidence }: RecognisedPage): boolean {
  const text = lines.map((line) => line[4]).join(' ')
  return confidence >= MIN_CONFIDENCE && countLetters(text) >= MIN_LETTERS && /\p{L}{3}|\p{Lo}{2}|\d{3}/u.test(text)
}

/** Inserts tables after the pictures in which they were recognised, and after the captions of those. */
function insertTables(blocks: readonly Block[], tables: ReadonlyMap<Block, Block[]>): Block[] {
  const placed: Block[] = []
  let pendingTables: Block[] = []
  for (const block of blocks) {
    if (pendingTables.length > 0 && !isFigureCaption(block.text)) placed.push(...pendingTables.splice(0))
    placed.push(block)
    pendingTables = [...pendingTables, ...(tables.get(block) ?? [])]
  }
  return [...placed, ...pendingTables]
}

/** @param text the lines without those that belong to tables */
function addText(block: Block, lines: readonly RecognisedLine[], text: string): void {
  const ocrText = lines.map((line) => line[4]).join('\n')
  const words = lines.flatMap((line) => line[5])
  const confidence = Math.round(words.reduce((sum, word) => sum + word, 0) / words.length)
  block.metadata = { alt: block.text, ...block.metadata, ocrText, ocr: { confidence, words } }
  block.text = [block.text, text].filter((part) => part.trim() !== '').join('\n')
}

/** Sets the numbers of recognised and pending pictures in the metadata of the document. */
function reportInMetadata(
  parsed: ParsedDocument,
  read: readonly RecognisedPage[],
  pendingCount: number,
  failure: string | undefined,
): void {
  const { ocr, warnings } = parsed.metadata
  if (failure !== undefined) parsed.metadata.warnings = [...(Array.isArray(warnings) ? warnings : []), failure]
  if (read.length === 0 && pendingCount === 0) return
  const mean = read.reduce((sum, { confidence }) => sum + confidence, 0) / Math.max(1, read.length)
  const pagesOcr = isRecord(ocr) ? ocr : { pages: 0, confidence: Math.round(mean) }
  const totalPending = pendingCount + Number(pagesOcr.waiting ?? 0)
  parsed.metadata.ocr = { ...pagesOcr, pictures: read.length, ...(totalPending === 0 ? {} : { waiting: totalPending }) }
}
