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
  /** the passage; absent where only pages are turned */
  target?: Citation | undefined
  /** of the version that the passage is of; none until they were read */
  elements?: readonly DocumentElement[]
  /** offsets count in the version that is current: those of another one are not marked */
  isCurrent?: boolean
}

const ASSET = 'GET /knowledge-spaces/{id}/documents/{documentId}/multimodal/{itemId}/asset'
/** of a passage so much is told to those who do not see its marks; all of it stands in the text beside */
const MOST_TOLD = 300
const NO_ELEMENTS: readonly DocumentElement[] = []

/** A page of a PDF as the daemon draws it, with the lines of the passage marked and its tables and pictures framed. */
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
        alt={`Page ${number} as it is drawn`}
        wait={`Page ${number} is being drawn`}
        shape="210 / 297"
      >
        {marks !== undefined && (
          <MarkedLines marks={marks} frames={frames} label={`Marked on page ${number}: ${told}`} />
        )}
      </DrawnSheet>
      <figcaption className="page-caption small muted">
        <IconButton icon="back" label="Page before" disabled={number <= 1} onClick={() => setNumber(number - 1)} />
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

/** In words what is marked, or why nothing is. */
function saidOf({ isFetching, lines, frames, error, isHere }: Said): string {
  if (isFetching) return 'Looking for the passage on the page …'
  if (error !== null && error !== undefined) return 'The passage could not be looked for on this page.'
  if (lines === undefined) return ''
  if (lines > 0) return `${plural(lines, 'line')} marked.`
  if (frames > 0) return ''
  return isHere ? 'The words of the passage were not found on the drawn page; they are marked in the text.' : ''
}

/** Pages on which a passage has text. */
function pagesOf(elements: readonly DocumentElement[], target: Target = {}): number[] {
  const pages = elements.flatMap((element) =>
    element.pageNumber !== undefined && markOf(element, target) !== undefined ? [element.pageNumber] : [],
  )
  return [...new Set(pages)].sort((one, other) => one - other)
}

/** The words of a passage on one page. */
export function toldOf(elements: readonly DocumentElement[], target: Target | undefined, page: number): string {
  const words = elements.flatMap((element) => {
    const mark = element.pageNumber === page ? markOf(element, target ?? {}) : undefined
    return mark === undefined ? [] : [(element.text ?? '').slice(mark.from, mark.to)]
  })
  const text = words.join(' ')
  return text.length <= MOST_TOLD ? text : `${text.slice(0, MOST_TOLD)}…`
}
