import { useMemo, useState } from 'react'
import type { Citation } from '../../contract/gateway/queries.js'
import { useRead } from '../api/use.js'
import { IconButton } from '../ui/button.js'
import { plural } from '../ui/format.js'
import { usePicture } from '../ui/picture.js'
import { findTargetRange, type TextTarget } from './document-text.js'
import type { DocumentElement } from './element.js'
import { MarkedLines, useMarks } from './marks.js'
import { RenderedSheet } from './rendered-sheet.js'

interface PageProps {
  spaceId: string
  documentId: string
  /** page that is shown first */
  pageNumber: number
  /** passage to mark; absent if pages are only browsed */
  citation?: Citation
  /** elements of the passage's version; empty until they are loaded */
  elements?: readonly DocumentElement[]
  /** whether the version is the current one; offsets of other versions are not marked */
  isCurrent?: boolean
}

/** Characters of the passage in the accessible name of its marks; the text view has all of it. */
const MAX_LABEL_CHARS = 300
const NO_ELEMENTS: readonly DocumentElement[] = []

/** A rendered page of a PDF: the lines of the passage are marked, its tables and pictures framed. */
export function RenderedPdfPage({
  spaceId,
  documentId,
  pageNumber,
  citation,
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
  const itemPath = { ...path, itemId: `page-${number}` }
  const picture = usePicture(itemPath, 'page')
  const { data: marks, isFetching, error } = useMarks(itemPath, isCurrent ? (citation ?? {}) : {})
  const frames = (citation?.items ?? []).flatMap(({ boundingBox: box, pageNumber: itemPage }) =>
    box !== undefined && (itemPage ?? pageNumber) === number ? [box] : [],
  )
  const passageText = useMemo(() => getPassageText(elements, number, citation), [elements, citation, number])
  const otherPages = useMemo(
    () => findPassagePages(elements, citation).filter((page) => page !== number),
    [elements, citation, number],
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
        <span role="status" className="page-status">
          {formatMarkStatus({
            isFetching,
            lineCount: marks?.boxes.length,
            frameCount: frames.length,
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
  /** undefined until the marks are loaded */
  lineCount: number | undefined
  frameCount: number
  error: unknown
  isPassageOnPage: boolean
}

/** Status text: what is marked, or why nothing is. */
function formatMarkStatus({ isFetching, lineCount, frameCount, error, isPassageOnPage }: MarkStatus): string {
  if (isFetching) return 'Looking for the passage on the page …'
  if (error !== null && error !== undefined) return 'The passage could not be searched on this page.'
  if (lineCount === undefined) return ''
  if (lineCount > 0) return `${plural(lineCount, 'line')} marked.`
  if (frameCount > 0) return ''
  return isPassageOnPage ? 'The passage was not found on the page image; it is marked in the text.' : ''
}

/** Page numbers on which a passage has text, in order. */
function findPassagePages(elements: readonly DocumentElement[], target: TextTarget = {}): number[] {
  const pages = elements.flatMap((element) =>
    element.pageNumber !== undefined && findTargetRange(element, target) !== undefined ? [element.pageNumber] : [],
  )
  return [...new Set(pages)].sort((a, b) => a - b)
}

/** Text of a passage on one page, truncated to `MAX_LABEL_CHARS`. */
export function getPassageText(
  elements: readonly DocumentElement[],
  pageNumber: number,
  target: TextTarget = {},
): string {
  const parts = elements.flatMap((element) => {
    const range = element.pageNumber === pageNumber ? findTargetRange(element, target) : undefined
    return range === undefined ? [] : [(element.text ?? '').slice(range.start, range.end)]
  })
  const text = parts.join(' ')
  return text.length <= MAX_LABEL_CHARS ? text : `${text.slice(0, MAX_LABEL_CHARS)}…`
}
