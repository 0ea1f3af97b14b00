import { notFoundError } from '../../../contract/errors.js'
import { gatherText, type Text } from '../../../lib/text/long-text.js'
import type { Caller } from '../../base/caller.js'
import {
  markPicture,
  type PageMarks,
  parsePage,
  readStoredElements,
  readStoredText,
  type StoredItem,
  type TargetText,
} from '../../readers/index.js'
import type { RecognisedPage } from '../../store/recognised-pages.js'
import type { VersionRow } from '../../store/rows/document-versions.js'
import type { DocumentRow } from '../../store/rows/documents.js'
import { findOcrPage } from '../../store/rows/ocr-pages.js'
import type { EngineContext } from '../context.js'
import { isPaged, loadArtifact, parseVersionMetadata } from './published.js'

/** A range of the text of a document, in UTF-16 units. */
interface TextRange {
  from: number
  to: number
}

interface MarksRequest {
  document: DocumentRow
  row: VersionRow
  item: StoredItem
  itemId: string
  range: TextRange
}

/** `marks=120-480`: the boxes of characters 120 to 479 of the document's text on the page of an item */
const MARKS_VARIANT = /^marks=(\d{1,10})-(\d{1,10})$/
/** number of characters around a text that are compared to distinguish it from repetitions */
const CONTEXT_LENGTH = 240
/** maximum number of lines on one page: a page of a directory has some hundred */
const MAX_LINES = 2000

/** The text range of a marks variant. @returns undefined for other variants */
export function parseMarksRange(variant: string): TextRange | undefined {
  const [, from, to] = MARKS_VARIANT.exec(variant) ?? []
  return from === undefined || to === undefined ? undefined : { from: Number(from), to: Number(to) }
}

/**
 * The boxes of a range of the document's text on the page of an item, or in a picture that is a document: one box for
 * each line, in JSON.
 *
 * @throws KsError `not-found` if there is no page or picture to mark
 */
export async function getItemMarks(
  context: EngineContext,
  caller: Caller,
  spaceId: string,
  { document, row, item, itemId, range }: MarksRequest,
): Promise<{ bytes: Uint8Array; contentType: string }> {
  const { pageNumber } = item
  const isPage = isPaged(row)
  if (pageNumber === undefined || !(isPage || isPicture(row, item))) throw notFoundError('marks of item', itemId)
  const packed = await context.db.read(loadArtifact(caller, spaceId, document.id, row))
  const texts = await collectTexts(packed, pageNumber, range)
  const recognisedPage = parsePage(await context.db.read(findOcrPage(document, pageNumber)))
  const marks = isPage
    ? await markOnPage(context, document, {
        page: pageNumber,
        ...texts,
        ...(recognisedPage === undefined ? {} : { read: recognisedPage }),
      })
    : recognisedPage && markPicture(recognisedPage, texts.wanted)
  if (marks === undefined) throw notFoundError('marks of item', itemId)
  return { bytes: Buffer.from(JSON.stringify({ pageNumber, ...marks })), contentType: 'application/json' }
}

function markOnPage(
  context: EngineContext,
  { id, tenant, filename, object_key: key }: DocumentRow,
  target: { page: number; wanted: TargetText[]; exactly: TargetText[]; read?: RecognisedPage },
): Promise<PageMarks> {
  return context.objects.local([key], async ([file]) => {
    if (file === undefined) throw notFoundError('file of document', id)
    return context.drawer.mark({ filename, ...target }, tenant, file)
  })
}

/** Whether the document itself is a picture, and not a document with pictures. */
function isPicture(row: VersionRow, { modality }: StoredItem): boolean {
  const { mediaType } = parseVersionMetadata(row)
  return modality === 'image' && typeof mediaType === 'string' && mediaType.startsWith('image/')
}

/** The lines of a range that are on a page, and the rows of a table that may continue there. */
async function collectTexts(artifact: Uint8Array, page: number, range: TextRange) {
  const spans = await collectSpans(artifact, page, range)
  const text = spans.length === 0 ? '' : await gatherText(readStoredText(artifact))
  const wanted: TargetText[] = []
  const exactly: TargetText[] = []
  for (const span of spans)
    for (const line of splitLines(text, span, range)) {
      if (wanted.length + exactly.length === MAX_LINES) return { wanted, exactly }
      if (span.isHere) wanted.push(line)
      else exactly.push(line)
    }
  return { wanted, exactly }
}

/** Offsets of an element in the text. */
interface MarkableSpan {
  start: number
  end: number
  /** whether it is on the page; otherwise it is part of a table that may continue on it */
  isHere: boolean
}

/** The elements of a page within a range of the text. */
async function collectSpans(artifact: Uint8Array, page: number, { from, to }: TextRange): Promise<MarkableSpan[]> {
  const spans: MarkableSpan[] = []
  /** a table before the page, until the next element shows whether it may reach the page */
  let table: MarkableSpan | undefined
  const add = (span: MarkableSpan | undefined) => {
    if (span !== undefined && span.start < to && span.end > from) spans.push(span)
  }
  for await (const { type, pageNumber, metadata } of readStoredElements(artifact)) {
    if ((pageNumber ?? page) >= page) add(table)
    table = undefined
    if (spans.length > MAX_LINES) break
    const { startOffset: start, endOffset: end } = metadata
    if (typeof start !== 'number' || typeof end !== 'number') continue
    const span = { start, end, isHere: pageNumber === page }
    if (span.isHere) add(span)
    else if (type === 'table' && pageNumber !== undefined && pageNumber < page) table = span
  }
  add(table)
  return spans
}

function splitLines(text: Text, span: MarkableSpan, range: TextRange): TargetText[] {
  const end = Math.min(range.to, span.end)
  const lines: TargetText[] = []
  for (let start = Math.max(range.from, span.start); start < end && lines.length < MAX_LINES; ) {
    const newline = text.indexOf('\n', start)
    const lineEnd = newline === -1 ? end : Math.min(newline, end)
    if (lineEnd > start)
      lines.push({
        text: text.slice(start, lineEnd),
        before: text.slice(Math.max(0, start - CONTEXT_LENGTH), start),
        after: text.slice(lineEnd, lineEnd + CONTEXT_LENGTH),
      })
    start = lineEnd + 1
  }
  return lines
}
