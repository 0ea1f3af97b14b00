import { useMemo, useState } from 'react'
import type { Citation } from '../../contract/gateway/queries.js'
import { useRead } from '../api/use.js'
import { IconButton } from '../ui/button.js'
import { plural } from '../ui/format.js'
import { usePicture } from '../ui/picture.js'
import { DrawnSheet } from './drawn-sheet.js'
import type { DocumentElement } from './element.js'
import { MarkedLines, useMarks } from './marks.js'
import { markOf, type Target } from './reading.js'

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
const MOST_TOLD = 300
const NO_ELEMENTS: readonly DocumentElement[] = []

/** A rendered page of a PDF: the lines of the passage are marked, its tables and pictures framed. */
export function PageOfDocument({
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
  const last = Math.max(
    pageNumber,
    ...(manifest.data?.items ?? []).map((item) => (item.modality === 'page' ? (item.pageNumber ?? 0) : 0)),
  )
  const asset = { path: { ...path, itemId: `page-${number}` }, query: { variant: 'page' } }
  const drawn = usePicture(ASSET, asset)
  const { data: marks, isFetching, error } = useMarks(asset.path, target ?? {}, isCurrent)
  const frames = (target?.items ?? []).flatMap(({ boundingBox: box, pageNumber: on }) =>
    box !== undefined && (on ?? pageNumber) === number ? [box] : [],
  )
  const told = useMemo(() => toldOf(elements, target, number), [elements, target, number])
  const further = useMemo(() => pagesOf(elements, target).filter((page) => page !== number), [elements, target, number])
  return (
    <figure className="page-figure">
      <DrawnSheet
        drawn={drawn}
        alt={`Page ${number} of the document`}
        wait={`Page ${number} is loading`}
        shape="210 / 297"
      >
        {marks !== undefined && (
          <MarkedLines marks={marks} frames={frames} label={`Marked on page ${number}: ${told}`} />
        )}
      </DrawnSheet>
      <figcaption className="page-caption small muted">
        <IconButton icon="back" label="Previous page" disabled={number <= 1} onClick={() => setNumber(number - 1)} />
        <span className="number">
          Page {number} of {last}
        </span>
        <IconButton icon="next" label="Next page" disabled={number >= last} onClick={() => setNumber(number + 1)} />
        {further.map((page) => (
          <button key={page} type="button" className="page-further" onClick={() => setNumber(page)}>
            also on page {page}
          </button>
        ))}
        <span role="status" className="page-told">
          {saidOf({ isFetching, lines: marks?.boxes.length, frames: frames.length, error, isHere: told !== '' })}
        </span>
      </figcaption>
    </figure>
  )
}

interface Said {
  isFetching: boolean
  lines: number | undefined
  frames: number
  error: unknown
  isHere: boolean
}

/** Status text: what is marked, or why nothing is. */
function saidOf({ isFetching, lines, frames, error, isHere }: Said): string {
  if (isFetching) return 'Looking for the passage on the page …'
  if (error !== null && error !== undefined) return 'The passage could not be searched on this page.'
  if (lines === undefined) return ''
  if (lines > 0) return `${plural(lines, 'line')} marked.`
  if (frames > 0) return ''
  return isHere ? 'The passage was not found on the page image; it is marked in the text.' : ''
}

/** Page numbers on which a passage has text, in order. */
function pagesOf(elements: readonly DocumentElement[], target: Target = {}): number[] {
  const pages = elements.flatMap((element) =>
    element.pageNumber !== undefined && markOf(element, target) !== undefined ? [element.pageNumber] : [],
  )
  return [...new Set(pages)].sort((one, other) => one - other)
}

/** Text of a passage on one page, truncated to `MAX_LABEL_CHARS`. */
export function toldOf(elements: readonly DocumentElement[], target: Target | undefined, page: number): string {
  const words = elements.flatMap((element) => {
    const mark = element.pageNumber === page ? markOf(element, target ?? {}) : undefined
    return mark === undefined ? [] : [(element.text ?? '').slice(mark.from, mark.to)]
  })
  const text = words.join(' ')
  return text.length <= MOST_TOLD ? text : `${text.slice(0, MOST_TOLD)}…`
}
