import type { Citation } from '../../contract/gateway/queries.js'
import { useRead } from '../api/use.js'
import { usePicture } from '../ui/picture.js'
import type { DocumentElement } from './element.js'
import { MarkedLines, useMarks } from './marks.js'
import { passageTextOn } from './page.js'
import { RenderedSheet } from './rendered-sheet.js'

interface DocumentPictureProps {
  spaceId: string
  documentId: string
  target: Citation
  elements: readonly DocumentElement[]
  isCurrent: boolean
}

/** A document that is a picture; the words of the passage recognized in it are marked. */
export function DocumentPicture(props: DocumentPictureProps) {
  const path = { id: props.spaceId, documentId: props.documentId }
  const manifest = useRead('GET /knowledge-spaces/{id}/documents/{documentId}/multimodal', { path })
  const item = manifest.data?.items.find(
    ({ modality, assetRef }) => modality === 'image' && assetRef?.variants?.preview !== undefined,
  )
  return item === undefined ? null : <PictureWithMarks {...props} itemId={item.id} />
}

function PictureWithMarks({
  spaceId,
  documentId,
  target,
  elements,
  isCurrent,
  itemId,
}: DocumentPictureProps & { itemId: string }) {
  const path = { id: spaceId, documentId, itemId }
  const picture = usePicture('GET /knowledge-spaces/{id}/documents/{documentId}/multimodal/{itemId}/asset', {
    path,
    query: { variant: 'preview' },
  })
  const { data: marks } = useMarks(path, target, isCurrent)
  return (
    <figure className="page-figure">
      <RenderedSheet
        picture={picture}
        alt="Picture of the document"
        loadingText="The picture is loading"
        initialRatio="4 / 3"
        className="page-sheet is-picture"
      >
        {marks !== undefined && (
          <MarkedLines marks={marks} label={`Marked in the picture: ${passageTextOn(elements, target, 1)}`} />
        )}
      </RenderedSheet>
    </figure>
  )
}
