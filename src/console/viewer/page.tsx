import { useState } from 'react'
import type { Citation } from '../../contract/gateway/queries.js'
import { useRead } from '../api/use.js'
import { IconButton } from '../ui/button.js'
import { usePicture } from '../ui/picture.js'

interface PageProps {
  spaceId: string
  documentId: string
  pageNumber: number
  /** tables and pictures of the passage, which are framed on their page */
  items: Citation['items']
}

/** Pages as they are printed, in points: a place on a page is told in these, and a drawn page tells only its shape. */
const SIZES = [
  { width: 595.28, height: 841.89 },
  { width: 612, height: 792 },
  { width: 612, height: 1008 },
  { width: 841.89, height: 595.28 },
  { width: 792, height: 612 },
  { width: 720, height: 540 },
  { width: 960, height: 540 },
]
const SAME_SHAPE = 0.004

/** A page of a PDF as the daemon draws it, with what is cited framed where it has a place on the page. */
export function PageOfDocument({ spaceId, documentId, pageNumber, items = [] }: PageProps) {
  const [number, setNumber] = useState(pageNumber)
  const path = { id: spaceId, documentId }
  const manifest = useRead('GET /knowledge-spaces/{id}/documents/{documentId}/multimodal', { path })
  const [shape, setShape] = useState<number>()
  const last = Math.max(
    pageNumber,
    ...(manifest.data?.items ?? []).map((item) => (item.modality === 'page' ? (item.pageNumber ?? 0) : 0)),
  )
  const drawn = usePicture('GET /knowledge-spaces/{id}/documents/{documentId}/multimodal/{itemId}/asset', {
    path: { ...path, itemId: `page-${number}` },
    query: { variant: 'page' },
  })
  const size = SIZES.find(({ width, height }) => Math.abs(width / height - (shape ?? 0)) < SAME_SHAPE)
  const frames = items.filter((item) => (item.pageNumber ?? pageNumber) === number && item.boundingBox !== undefined)
  return (
    <figure className="page-figure">
      <div className="page-sheet" style={{ aspectRatio: shape ?? '210 / 297' }}>
        {drawn.url !== undefined && (
          <img
            className="page-picture"
            src={drawn.url}
            alt={`Page ${number} as it is drawn`}
            onLoad={({ currentTarget: { naturalWidth, naturalHeight } }) => setShape(naturalWidth / naturalHeight)}
          />
        )}
        {drawn.url === undefined && (
          <span className="faint small page-wait">{drawn.error ?? `Page ${number} is being drawn`}</span>
        )}
        {size !== undefined &&
          frames.map(({ id, boundingBox: box }) =>
            box === undefined ? null : (
              <span
                key={id}
                className="page-frame"
                style={{
                  left: `${(box.x / size.width) * 100}%`,
                  top: `${(box.y / size.height) * 100}%`,
                  width: `${(box.width / size.width) * 100}%`,
                  height: `${(box.height / size.height) * 100}%`,
                }}
              />
            ),
          )}
      </div>
      <figcaption className="row small muted">
        <IconButton icon="back" label="Page before" disabled={number <= 1} onClick={() => setNumber(number - 1)} />
        <span className="number">
          Page {number} of {last}
        </span>
        <IconButton icon="next" label="Next page" disabled={number >= last} onClick={() => setNumber(number + 1)} />
      </figcaption>
    </figure>
  )
}
