import './viewer.css'
import { useEffect, useMemo, useRef, useState } from 'react'
import { Button } from '../ui/button.js'
import { plural } from '../ui/format.js'
import { type DocumentElement, ElementView } from './element.js'

/** A range of the document's text, in characters. */
export interface Target {
  startOffset?: number | undefined
  endOffset?: number | undefined
  pageNumber?: number | undefined
}

interface ReadingProps {
  elements: readonly DocumentElement[]
  /** range to mark and scroll into view */
  target?: Target | undefined
  spaceId: string
  documentId: string
}

/** Number of elements shown before and after the target, and added with each click. */
const BEFORE = 12
const AROUND = 60
const MORE = 200

/**
 * Parsed text of a document: headings, paragraphs, lists, tables, code. Renders elements of this page only, so scripts
 * and styles in a document appear as text.
 */
export function Reading({ elements, target, spaceId, documentId }: ReadingProps) {
  const at = useMemo(() => placeOf(elements, target), [elements, target])
  const [range, setRange] = useState(() => rangeAround(at, elements.length))
  const marked = useRef<HTMLDivElement>(null)
  useEffect(() => setRange(rangeAround(at, elements.length)), [at, elements.length])
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new target is scrolled into view
  useEffect(() => {
    if (target !== undefined) marked.current?.scrollIntoView({ block: 'center' })
  }, [at, elements])

  const shown = elements.slice(range.from, range.to)
  if (elements.length === 0) return <p className="muted">No text could be extracted from this document.</p>
  return (
    <div className="reading">
      {range.from > 0 && (
        <Button small kind="quiet" onClick={() => setRange({ ...range, from: Math.max(0, range.from - MORE) })}>
          {plural(range.from, 'element')} before this
        </Button>
      )}
      {shown.map((element, index) => {
        const mark = target === undefined ? undefined : markOf(element, target)
        const isFirst = range.from + index === at && target !== undefined
        return (
          <div
            key={element.id}
            ref={isFirst ? marked : undefined}
            className={mark === undefined ? undefined : 'is-marked'}
          >
            <PageBreak element={element} before={shown[index - 1]} />
            <ElementView element={element} mark={mark} spaceId={spaceId} documentId={documentId} />
          </div>
        )
      })}
      {range.to < elements.length && (
        <Button small kind="quiet" onClick={() => setRange({ ...range, to: range.to + MORE })}>
          {plural(elements.length - range.to, 'more element')}
        </Button>
      )}
    </div>
  )
}

function PageBreak({ element, before }: { element: DocumentElement; before: DocumentElement | undefined }) {
  if (element.pageNumber === undefined || element.pageNumber === before?.pageNumber) return null
  return <p className="reading-page small faint">Page {element.pageNumber}</p>
}

/** Index of the first element in the target, by offset, else by page; 0 without a target. */
function placeOf(elements: readonly DocumentElement[], target: Target | undefined): number {
  if (target === undefined) return 0
  const byOffset = elements.findIndex((element) => markOf(element, target) !== undefined)
  if (byOffset !== -1) return byOffset
  return Math.max(
    0,
    elements.findIndex(({ pageNumber }) => pageNumber !== undefined && pageNumber === target.pageNumber),
  )
}

function rangeAround(at: number, length: number): { from: number; to: number } {
  return { from: Math.max(0, at - BEFORE), to: Math.min(length, at + AROUND) }
}

/** The range of an element's text inside the target, relative to the element; undefined if they do not overlap. */
export function markOf(element: DocumentElement, target: Target): { from: number; to: number } | undefined {
  const { startOffset: from, endOffset: to } = target
  const { startOffset: start, endOffset: end } = element.metadata
  if (from === undefined || to === undefined || typeof start !== 'number' || typeof end !== 'number') return undefined
  if (end <= from || start >= to) return undefined
  return { from: Math.max(0, from - start), to: Math.min(end, to) - start }
}
