import type { Citation } from '../../contract/gateway/queries.js'
import { useRead } from '../api/use.js'
import { usePicture } from '../ui/picture.js'
import { DrawnSheet } from './drawn-sheet.js'
import type { DocumentElement } from './element.js'
import { MarkedLines, useMarks } from './marks.js'
import { toldOf } from './page.js'

interface PictureProps {
  spaceId: string
  documentId: string
  target: Citation
  elements: readonly DocumentElement[]
  isCurrent: boolean
}

/** A document that is a picture; the words of the passage recognized in it are marked. */
export function PictureOfDocument(props: PictureProps) {
  const path = { id: props.spaceId, documentId: props.documentId }
  const manifest = useRead('GET /knowledge-spaces/{id}/documents/{documentId}/multimodal', { path })
  const item = manifest.data?.items.find(
    ({ modality, assetRef }) => modality === 'image' && assetRef?.variants?.preview !== undefined,
  )
  return item === undefined ? null : <Shown {...props} itemId={item.id} />
}

function Shown({ spaceId, documentId, target, elements, isCurrent, itemId }: PictureProps & { itemId: string }) {
  const path = { id: spaceId, documentId, itemId }
  const drawn = usePicture('GET /knowledge-spaces/{id}/documents/{documentId}/multimodal/{itemId}/asset', {
    path,
    query: { variant: 'preview' },
  })
  const { data: marks } = useMarks(path, target, isCurrent)
  return (
    <figure className="page-figure">
      <DrawnSheet
        drawn={drawn}
        alt="Picture of the document"
        wait="The picture is loading"
        shape="4 / 3"
        className="page-sheet is-picture"
      >
        {marks !== undefined && (
          <MarkedLines marks={marks} label={`Marked in the picture: ${toldOf(elements, target, 1)}`} />
        )}
      </DrawnSheet>
    </figure>
  )
}
