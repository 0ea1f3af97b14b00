import { notFound } from '../../contract/errors.js'
import { gatherText, type Text } from '../../lib/text/long-text.js'
import type { Caller } from '../base/caller.js'
import type { EngineContext } from '../context.js'
import type { Marks } from '../parse/draw/messages.js'
import type { Wanted } from '../parse/marks/find-text.js'
import { markPicture } from '../parse/marks/mark-page.js'
import { parsePage } from '../parse/ocr/pages.js'
import type { RecognisedPage } from '../parse/ocr/pages-read.js'
import { storedElements, storedText } from '../parse/read-stored.js'
import type { StoredItem } from '../parse/stored.js'
import type { VersionRow } from '../rows/document-versions.js'
import type { DocumentRow } from '../rows/documents.js'
import { ocrPage } from '../rows/ocr-pages.js'
import { artifactOf, isPaged, metadataOf } from './published.js'

/** A range of the text of a document, in UTF-16 units. */
interface TextRange {
  from: number
  to: number
}

interface Located {
  document: DocumentRow
  row: VersionRow
  item: StoredItem
  itemId: string
}

/** `marks=120-480`: the boxes of characters 120 to 479 of the document's text on the page of an item */
const NAME = /^marks=(\d{1,10})-(\d{1,10})$/
/** number of characters around a text that are compared to distinguish it from repetitions */
const NEIGHBOURS = 240
/** maximum number of lines on one page: a page of a directory has some hundred */
const MOST_LINES = 2000

/** The text range of a marks variant. @returns undefined for other variants */
export function markedRange(variant: string): TextRange | undefined {
  const [, from, to] = NAME.exec(variant) ?? []
  return from === undefined || to === undefined ? undefined : { from: Number(from), to: Number(to) }
}

/**
 * The boxes of a range of the document's text on the page of an item, or in a picture that is a document: one box for
 * each line, in JSON.
 *
 * @throws KsError `not-found` if there is no page or picture to mark
 */
export async function itemMarks(
  context: EngineContext,
  caller: Caller,
  spaceId: string,
  { document, row, item, itemId }: Located,
  range: TextRange,
): Promise<{ bytes: Uint8Array; contentType: string }> {
  const { pageNumber } = item
  const isPage = isPaged(row)
  if (pageNumber === undefined || !(isPage || isPicture(row, item))) throw notFound('marks of item', itemId)
  const packed = await context.db.read(artifactOf(caller, spaceId, document.id, row))
  const texts = await textsOn(packed, pageNumber, range)
  const read = parsePage(await context.db.read(ocrPage(document, pageNumber)))
  const marks = isPage
    ? await onPage(context, document, { page: pageNumber, ...texts, ...(read === undefined ? {} : { read }) })
    : inPicture(read, texts.wanted)
  if (marks === undefined) throw notFound('marks of item', itemId)
  return { bytes: Buffer.from(JSON.stringify({ pageNumber, ...marks })), contentType: 'application/json' }
}

function onPage(
  context: EngineContext,
  { id, tenant, filename, object_key: key }: DocumentRow,
  how: { page: number; wanted: Wanted[]; exactly: Wanted[]; read?: RecognisedPage },
): Promise<Marks> {
  return context.objects.local([key], async ([file]) => {
    if (file === undefined) throw notFound('file of document', id)
    return context.drawer.mark({ filename, ...how }, tenant, file)
  })
}

function inPicture(read: RecognisedPage | undefined, wanted: readonly Wanted[]): Marks | undefined {
  return read === undefined ? undefined : markPicture(read, wanted)
}

/** Whether the document itself is a picture, and not a document with pictures. */
function isPicture(row: VersionRow, { modality }: StoredItem): boolean {
  const { mediaType } = metadataOf(row)
  return modality === 'image' && typeof mediaType === 'string' && mediaType.startsWith('image/')
}

/** The lines of a range that are on a page, and the rows of a table that may continue there. */
async function textsOn(artifact: Uint8Array, page: number, range: TextRange) {
  const spans = await spansOn(artifact, page, range)
  const text = spans.length === 0 ? '' : await gatherText(storedText(artifact))
  const wanted: Wanted[] = []
  const exactly: Wanted[] = []
  for (const span of spans)
    for (const one of linesOf(text, span, range)) {
      if (wanted.length + exactly.length === MOST_LINES) return { wanted, exactly }
      if (span.isHere) wanted.push(one)
      else exactly.push(one)
    }
  return { wanted, exactly }
}

/** Offsets of an element in the text. */
interface Span {
  start: number
  end: number
  /** whether it is on the page; otherwise it is part of a table that may continue on it */
  isHere: boolean
}

/** The elements of a page within a range of the text. */
async function spansOn(artifact: Uint8Array, page: number, { from, to }: TextRange): Promise<Span[]> {
  const spans: Span[] = []
  /** a table before the page, until the next element shows whether it may reach the page */
  let table: Span | undefined
  const add = (span: Span | undefined) => {
    if (span !== undefined && span.start < to && span.end > from) spans.push(span)
  }
  for await (const { type, pageNumber, metadata } of storedElements(artifact)) {
    if ((pageNumber ?? page) >= page) add(table)
    table = undefined
    if (spans.length > MOST_LINES) break
    const { startOffset: start, endOffset: end } = metadata
    if (typeof start !== 'number' || typeof end !== 'number') continue
    const span = { start, end, isHere: pageNumber === page }
    if (span.isHere) add(span)
    else if (type === 'table' && pageNumber !== undefined && pageNumber < page) table = span
  }
  add(table)
  return spans
}

function linesOf(text: Text, span: Span, range: TextRange): Wanted[] {
  const end = Math.min(range.to, span.end)
  const lines: Wanted[] = []
  for (let at = Math.max(range.from, span.start); at < end && lines.length < MOST_LINES; ) {
    const newline = text.indexOf('\n', at)
    const stop = newline === -1 ? end : Math.min(newline, end)
    if (stop > at)
      lines.push({
        text: text.slice(at, stop),
        before: text.slice(Math.max(0, at - NEIGHBOURS), at),
        behind: text.slice(stop, stop + NEIGHBOURS),
      })
    at = stop + 1
  }
  return lines
}
