import './viewer.css'
import { useEffect, useMemo, useRef, useState } from 'react'
import { Button } from '../ui/button.js'
import { plural } from '../ui/format.js'
import { type DocumentElement, ElementView, type IndexRange } from './element.js'

/** Location of a passage: a range of the document's text, in characters, or a page. */
export interface TextTarget {
  startOffset?: number | undefined
  endOffset?: number | undefined
  pageNumber?: number | undefined
}

interface DocumentTextProps {
  elements: readonly DocumentElement[]
  /** range to mark and scroll into view */
  target?: TextTarget | undefined
  spaceId: string
  documentId: string
}

/** Numbers of elements shown before and after the target, and added with each click. */
const ELEMENTS_BEFORE = 12
const ELEMENTS_AFTER = 60
const MORE_ELEMENTS = 200

/**
 * Parsed text of a document: headings, paragraphs, lists, tables, code. All elements are built here, so scripts and
 * styles in a document appear as text.
 */
export function DocumentText({ elements, target, spaceId, documentId }: DocumentTextProps) {
  const targetIndex = useMemo(() => findTargetIndex(elements, target), [elements, target])
  const [visibleRange, setVisibleRange] = useState(() => rangeAround(targetIndex, elements.length))
  const firstMarked = useRef<HTMLDivElement>(null)
  useEffect(() => setVisibleRange(rangeAround(targetIndex, elements.length)), [targetIndex, elements.length])
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new target is scrolled into view
  useEffect(() => {
    if (target !== undefined) firstMarked.current?.scrollIntoView({ block: 'center' })
  }, [targetIndex, elements])

  const { start, end } = visibleRange
  const visible = elements.slice(start, end)
  if (elements.length === 0) return <p className="muted">No text could be extracted from this document.</p>
  return (
    <div className="reading">
      {start > 0 && (
        <Button small kind="quiet" onClick={() => setVisibleRange({ start: Math.max(0, start - MORE_ELEMENTS), end })}>
          {plural(start, 'element')} before this
        </Button>
      )}
      {visible.map((element, index) => {
        const highlight = target === undefined ? undefined : findTargetRange(element, target)
        const isFirst = start + index === targetIndex && target !== undefined
        return (
          <div
            key={element.id}
            ref={isFirst ? firstMarked : undefined}
            className={highlight === undefined ? undefined : 'is-marked'}
          >
            <PageBreak element={element} previous={visible[index - 1]} />
            <ElementView element={element} highlight={highlight} spaceId={spaceId} documentId={documentId} />
          </div>
        )
      })}
      {end < elements.length && (
        <Button small kind="quiet" onClick={() => setVisibleRange({ start, end: end + MORE_ELEMENTS })}>
          {plural(elements.length - end, 'more element')}
        </Button>
      )}
    </div>
  )
}

function PageBreak({ element, previous }: { element: DocumentElement; previous: DocumentElement | undefined }) {
  if (element.pageNumber === undefined || element.pageNumber === previous?.pageNumber) return null
  return <p className="reading-page small faint">Page {element.pageNumber}</p>
}

/** Index of the first element in the target, by offset, else by page; 0 without a target. */
function findTargetIndex(elements: readonly DocumentElement[], target: TextTarget | undefined): number {
  if (target === undefined) return 0
  const byOffset = elements.findIndex((element) => findTargetRange(element, target) !== undefined)
  if (byOffset !== -1) return byOffset
  return Math.max(
    0,
    elements.findIndex(({ pageNumber }) => pageNumber !== undefined && pageNumber === target.pageNumber),
  )
}

function rangeAround(index: number, length: number): IndexRange {
  return { start: Math.max(0, index - ELEMENTS_BEFORE), end: Math.min(length, index + ELEMENTS_AFTER) }
}

/** The range of an element's text inside the target, relative to the element; undefined if they do not overlap. */
export function findTargetRange(element: DocumentElement, target: TextTarget): IndexRange | undefined {
  const { startOffset: targetStart, endOffset: targetEnd } = target
  const { startOffset: start, endOffset: end } = element.metadata
  if (targetStart === undefined || targetEnd === undefined) return undefined
  if (typeof start !== 'number' || typeof end !== 'number' || end <= targetStart || start >= targetEnd) return undefined
  return { start: Math.max(0, targetStart - start), end: Math.min(end, targetEnd) - start }
}
