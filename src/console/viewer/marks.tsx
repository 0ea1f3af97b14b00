import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { openResponse } from '../api/client.js'
import { isRecord } from '../api/session.js'
import { ASSET, type ItemPath } from '../ui/picture.js'
import type { TextTarget } from './document-text.js'

/** Rectangle on a page, in points. */
interface MarkBox {
  x: number
  y: number
  width: number
  height: number
}

/** Lines of a passage on a page or picture, whose size is in points. */
interface PassageMarks {
  width: number
  height: number
  boxes: MarkBox[]
}

const NO_MARKS: PassageMarks = { width: 0, height: 0, boxes: [] }

/** Loads where a range of the document's text is drawn on the page of an item; nothing without a range. */
export function useMarks(path: ItemPath, { startOffset: start, endOffset: end }: TextTarget) {
  return useQuery({
    queryKey: [ASSET, path, 'marks', start, end],
    enabled: start !== undefined && end !== undefined && end > start,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
    queryFn: async ({ signal }) => {
      const response = await openResponse(ASSET, { path, query: { variant: `marks=${start}-${end}` } }, { signal })
      return parseMarks(await response.json())
    },
  })
}

interface MarkedLinesProps {
  marks: PassageMarks
  /** accessible name of the marks */
  label: string
  /** frames around tables and pictures of the passage, in points */
  frames?: readonly MarkBox[]
}

/** Overlay that marks the lines of a passage on a rendered page and scrolls the first one into view. */
export function MarkedLines({ marks: { width, height, boxes }, label, frames = [] }: MarkedLinesProps) {
  const firstMark = useRef<HTMLSpanElement>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: new marks are scrolled into view
  useEffect(() => {
    firstMark.current?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }, [boxes])
  const toStyle = (box: MarkBox) => ({
    left: toPercent(box.x, width),
    top: toPercent(box.y, height),
    width: toPercent(box.width, width),
    height: toPercent(box.height, height),
  })
  if (boxes.length + frames.length === 0) return null
  return (
    <div role="img" aria-label={label} className="page-marks">
      {frames.map((box) => (
        <span key={boxKey(box)} className="page-frame" style={toStyle(box)} />
      ))}
      {boxes.map((box, index) => (
        <span key={boxKey(box)} ref={index === 0 ? firstMark : undefined} className="page-mark" style={toStyle(box)} />
      ))}
    </div>
  )
}

function toPercent(length: number, total: number): string {
  return `${total > 0 ? (length / total) * 100 : 0}%`
}

function boxKey({ x, y, width, height }: MarkBox): string {
  return [x, y, width, height].join(' ')
}

/** Reads the body of a response; boxes of unexpected form are dropped. */
function parseMarks(body: unknown): PassageMarks {
  if (!isRecord(body)) return NO_MARKS
  const { width = 0, height = 0, boxes } = body
  return { width: Number(width), height: Number(height), boxes: Array.isArray(boxes) ? boxes.filter(isBox) : [] }
}

function isBox(value: unknown): value is MarkBox {
  return isRecord(value) && ['x', 'y', 'width', 'height'].every((name) => typeof value[name] === 'number')
}
