import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { open } from '../api/client.js'
import type { Target } from './reading.js'

/** Rectangle on a page, in the unit of its `PassageMarks`. */
interface Box {
  x: number
  y: number
  width: number
  height: number
}

/** Lines of a passage on a page or picture. Lengths in points. */
interface Marks {
  width: number
  height: number
  boxes: Box[]
}

const NONE: Marks = { width: 0, height: 0, boxes: [] }
const ASSET = 'GET /knowledge-spaces/{id}/documents/{documentId}/multimodal/{itemId}/asset'

interface Path {
  id: string
  documentId: string
  itemId: string
}

/** Loads where a range of the document's text is drawn on the page of an item; disabled without a range. */
export function useMarks(path: Path, { startOffset: from, endOffset: to }: Target, isCurrent: boolean) {
  const isAsked = isCurrent && from !== undefined && to !== undefined && to > from
  return useQuery({
    queryKey: [ASSET, path, 'marks', from, to],
    enabled: isAsked,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
    queryFn: async ({ signal }) => {
      const response = await open(ASSET, { path, query: { variant: `marks=${from}-${to}` } }, { signal })
      return marksOf(await response.json())
    },
  })
}

interface MarkedProps {
  marks: Marks
  /** accessible name of the marks */
  label: string
  /** frames around tables and pictures of the passage, in points */
  frames?: readonly Box[]
}

/** Overlay that marks the lines of a passage on a rendered page and scrolls the first one into view. */
export function MarkedLines({ marks: { width, height, boxes }, label, frames = [] }: MarkedProps) {
  const first = useRef<HTMLSpanElement>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: new marks are scrolled into view
  useEffect(() => {
    first.current?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }, [boxes])
  const placed = (box: Box) => ({
    left: share(box.x, width),
    top: share(box.y, height),
    width: share(box.width, width),
    height: share(box.height, height),
  })
  if (boxes.length + frames.length === 0) return null
  return (
    <div role="img" aria-label={label} className="page-marks">
      {frames.map((box) => (
        <span key={keyOf(box)} className="page-frame" style={placed(box)} />
      ))}
      {boxes.map((box, at) => (
        <span key={keyOf(box)} ref={at === 0 ? first : undefined} className="page-mark" style={placed(box)} />
      ))}
    </div>
  )
}

function share(length: number, of: number): string {
  return `${of > 0 ? (length / of) * 100 : 0}%`
}

function keyOf({ x, y, width, height }: Box): string {
  return [x, y, width, height].join(' ')
}

/** Reads the response; entries of unexpected form are dropped. */
function marksOf(answer: unknown): Marks {
  if (typeof answer !== 'object' || answer === null) return NONE
  const { width, height, boxes } = { width: 0, height: 0, boxes: [], ...answer }
  return {
    width: Number(width),
    height: Number(height),
    boxes: Array.isArray(boxes) ? boxes.filter(isBox) : [],
  }
}

function isBox(value: unknown): value is Box {
  return (
    typeof value === 'object' &&
    value !== null &&
    ['x', 'y', 'width', 'height'].every((side) => typeof Reflect.get(value, side) === 'number')
  )
}
