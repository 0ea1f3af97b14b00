import { useMemo, useState } from 'react'
import type { Citation } from '../../contract/gateway/queries.js'
import { useRead } from '../api/use.js'
import { IconButton } from '../ui/button.js'
import { plural } from '../ui/format.js'
import { usePicture } from '../ui/picture.js'
import { type TextTarget, targetRangeIn } from './document-text.js'
import type { DocumentElement } from './element.js'
import { MarkedLines, useMarks } from './marks.js'
import { RenderedSheet } from './rendered-sheet.js'

interface PageProps {
  spaceId: string
  documentId: string
  pageNumber: number
  /** passage to mark; absent if pages are only browsed */
  target?: Citation | undefined
  /** elements of the passage's version; empty until they are loaded */
  elements?: readonly DocumentElement[]
  /** whether the version is the current one; offsets of other versions are not marked */
  isCurrent?: boolean
}

const ASSET = 'GET /knowledge-spaces/{id}/documents/{documentId}/multimodal/{itemId}/asset'
/** Characters of the passage in the accessible name of its marks; the text view has all of it. */
const MAX_LABEL_CHARS = 300
const NO_ELEMENTS: readonly DocumentElement[] = []

/** A rendered page of a PDF: the lines of the passage are marked, its tables and pictures framed. */
export function RenderedPdfPage({
  spaceId,
  documentId,
  pageNumber,
  target,
  elements = NO_ELEMENTS,
  isCurrent = false,
}: PageProps) {
  const [number, setNumber] = useState(pageNumber)
  const path = { id: spaceId, documentId }
  const manifest = useRead('GET /knowledge-spaces/{id}/documents/{documentId}/multimodal', { path })
  const lastPage = Math.max(
    pageNumber,
    ...(manifest.data?.items ?? []).map((item) => (item.modality === 'page' ? (item.pageNumber ?? 0) : 0)),
  )
  const asset = { path: { ...path, itemId: `page-${number}` }, query: { variant: 'page' } }
  const picture = usePicture(ASSET, asset)
  const { data: marks, isFetching, error } = useMarks(asset.path, target ?? {}, isCurrent)
  const frames = (target?.items ?? []).flatMap(({ boundingBox: box, pageNumber: itemPage }) =>
    box !== undefined && (itemPage ?? pageNumber) === number ? [box] : [],
  )
  const passageText = useMemo(() => passageTextOn(elements, target, number), [elements, target, number])
  const otherPages = useMemo(
    () => findPassagePages(elements, target).filter((page) => page !== number),
    [elements, target, number],
  )
  return (
    <figure className="page-figure">
      <RenderedSheet
        picture={picture}
        alt={`Page ${number} of the document`}
        loadingText={`Page ${number} is loading`}
        initialRatio="210 / 297"
      >
        {marks !== undefined && (
          <MarkedLines marks={marks} frames={frames} label={`Marked on page ${number}: ${passageText}`} />
        )}
      </RenderedSheet>
      <figcaption className="page-caption small muted">
        <IconButton icon="back" label="Previous page" disabled={number <= 1} onClick={() => setNumber(number - 1)} />
        <span className="number">
          Page {number} of {lastPage}
        </span>
        <IconButton icon="next" label="Next page" disabled={number >= lastPage} onClick={() => setNumber(number + 1)} />
        {otherPages.map((page) => (
          <button key={page} type="button" className="page-further" onClick={() => setNumber(page)}>
            also on page {page}
          </button>
        ))}
        <span role="status" className="page-told">
          {formatMarkStatus({
            isFetching,
            lines: marks?.boxes.length,
            frames: frames.length,
            error,
            isPassageOnPage: passageText !== '',
          })}
        </span>
      </figcaption>
    </figure>
  )
}

interface MarkStatus {
  isFetching: boolean
  lines: number | undefined
  frames: number
  error: unknown
  isPassageOnPage: boolean
}

/** Status text: what is marked, or why nothing is. */
function formatMarkStatus({ isFetching, lines, frames, error, isPassageOnPage }: MarkStatus): string {
  if (isFetching) return 'Looking for the passage on the page …'
  if (error !== null && error !== undefined) return 'The passage could not be searched on this page.'
  if (lines === undefined) return ''
  if (lines > 0) return `${plural(lines, 'line')} marked.`
  if (frames > 0) return ''
  return isPassageOnPage ? 'The passage was not found on the page image; it is marked in the text.' : ''
}

/** Page numbers on which a passage has text, in order. */
function findPassagePages(elements: readonly DocumentElement[], target: TextTarget = {}): number[] {
  const pages = elements.flatMap((element) =>
    element.pageNumber !== undefined && targetRangeIn(element, target) !== undefined ? [element.pageNumber] : [],
  )
  return [...new Set(pages)].sort((one, other) => one - other)
}

/** Text of a passage on one page, truncated to `MAX_LABEL_CHARS`. */
export function passageTextOn(
  elements: readonly DocumentElement[],
  target: TextTarget | undefined,
  page: number,
): string {
  const parts = elements.flatMap((element) => {
    const range = element.pageNumber === page ? targetRangeIn(element, target ?? {}) : undefined
    return range === undefined ? [] : [(element.text ?? '').slice(range.from, range.to)]
  })
  const text = parts.join(' ')
  return text.length <= MAX_LABEL_CHARS ? text : `${text.slice(0, MAX_LABEL_CHARS)}…`
}
