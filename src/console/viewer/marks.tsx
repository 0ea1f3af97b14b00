import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { open } from '../api/client.js'
import type { Target } from './reading.js'

/** A place on a page, in shares of it. */
interface Box {
  x: number
  y: number
  width: number
  height: number
}

/** Where a passage stands on a page or picture. Lengths in points. */
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

/** Where a range of the document's text stands on the page of an item; nothing before it is known. */
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
  /** what is marked, for those who do not see it */
  label: string
  /** tables and pictures of the passage, which are framed; in points, too */
  frames?: readonly Box[]
}

/** The lines of a passage, marked on what is drawn below it; the first is brought into sight. */
export function MarkedLines({ marks: { width, height, boxes }, label, frames = [] }: MarkedProps) {
  const first = useRef<HTMLSpanElement>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: other marks are brought into sight anew
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

/** The answer is JSON of this program's own; what is not as it says is left out. */
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
