import type { Citation } from '../../contract/gateway/queries.js'
import { useRead } from '../api/use.js'
import { usePicture } from '../ui/picture.js'
import type { DocumentElement } from './element.js'
import { MarkedLines, useMarks } from './marks.js'
import { getPassageText } from './page.js'
import { RenderedSheet } from './rendered-sheet.js'

interface DocumentPictureProps {
  spaceId: string
  documentId: string
  citation: Citation
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
  citation,
  elements,
  isCurrent,
  itemId,
}: DocumentPictureProps & { itemId: string }) {
  const path = { id: spaceId, documentId, itemId }
  const picture = usePicture(path, 'preview')
  const { data: marks } = useMarks(path, isCurrent ? citation : {})
  return (
    <figure className="page-figure">
      <RenderedSheet
        picture={picture}
        alt="Picture of the document"
        loadingText="The picture is loading"
        initialRatio="4 / 3"
      >
        {marks !== undefined && (
          <MarkedLines marks={marks} label={`Marked in the picture: ${getPassageText(elements, 1, citation)}`} />
        )}
      </RenderedSheet>
    </figure>
  )
}
