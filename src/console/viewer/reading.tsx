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
  /** what is marked and brought into sight */
  target?: Target | undefined
  spaceId: string
  documentId: string
}

/** elements that are shown before and behind the place, and with every asking for more */
const BEFORE = 12
const AROUND = 60
const MORE = 200

/**
 * What was read of a document, as it was read: headings, paragraphs, lists, tables, code. Everything is text of this page's own
 * elements; a script or style of a document is a text like any other.
 */
export function Reading({ elements, target, spaceId, documentId }: ReadingProps) {
  const at = useMemo(() => placeOf(elements, target), [elements, target])
  const [range, setRange] = useState(() => rangeAround(at, elements.length))
  const marked = useRef<HTMLDivElement>(null)
  useEffect(() => setRange(rangeAround(at, elements.length)), [at, elements.length])
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new place is brought into sight
  useEffect(() => {
    if (target !== undefined) marked.current?.scrollIntoView({ block: 'center' })
  }, [at, elements])

  const shown = elements.slice(range.from, range.to)
  if (elements.length === 0) return <p className="muted">Nothing could be read of this document.</p>
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

/** The first element of the place, by offsets, else by page; 0 without one. */
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

/** The part of an element's text that the place holds. */
export function markOf(element: DocumentElement, target: Target): { from: number; to: number } | undefined {
  const { startOffset: from, endOffset: to } = target
  const { startOffset: start, endOffset: end } = element.metadata
  if (from === undefined || to === undefined || typeof start !== 'number' || typeof end !== 'number') return undefined
  if (end <= from || start >= to) return undefined
  return { from: Math.max(0, from - start), to: Math.min(end, to) - start }
}
