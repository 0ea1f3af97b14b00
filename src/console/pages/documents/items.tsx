import type { MultimodalItem } from '../../../contract/gateway/document-parts.js'
import { useRead } from '../../api/use.js'
import { setQuery } from '../../router.js'
import { Button } from '../../ui/button.js'
import { Icon, type IconName } from '../../ui/icon.js'
import { usePicture } from '../../ui/picture.js'
import { Empty, Loaded } from '../../ui/state.js'
import { useVisible } from '../../ui/visible.js'

interface ItemsProps {
  spaceId: string
  documentId: string
}

const ICONS: Record<string, IconName> = { image: 'picture', table: 'table', code: 'code', page: 'file' }
const NAMES: Record<string, string> = { image: 'Picture', table: 'Table', code: 'Code', page: 'Page' }

/** Pictures, tables and code of a document; pages have a separate tab. */
export function Items({ spaceId, documentId }: ItemsProps) {
  const manifest = useRead('GET /knowledge-spaces/{id}/documents/{documentId}/multimodal', {
    path: { id: spaceId, documentId },
  })
  return (
    <Loaded of={manifest} lines={6}>
      {({ items }) => {
        const shown = items.filter(({ modality }) => modality !== 'page')
        if (shown.length === 0)
          return (
            <Empty icon="picture" title="No pictures or tables">
              <p>This document contains only text.</p>
            </Empty>
          )
        return (
          <ul className="item-grid">
            {shown.map((item) => (
              <ItemCard key={item.id} item={item} spaceId={spaceId} documentId={documentId} />
            ))}
          </ul>
        )
      }}
    </Loaded>
  )
}

function ItemCard({ item, spaceId, documentId }: ItemsProps & { item: MultimodalItem }) {
  const [card, isSeen] = useVisible<HTMLLIElement>()
  const { modality, title, caption, textPreview, ocrText, pageNumber, startOffset, endOffset, sourceMetadata } = item
  const described = typeof sourceMetadata.description === 'string' ? sourceMetadata.description : undefined
  const words = caption ?? described ?? ocrText ?? textPreview
  const hasPicture = item.assetRef?.variants?.preview !== undefined
  return (
    <li className="item-card" ref={card}>
      {modality === 'image' && hasPicture && isSeen && (
        <Preview path={{ id: spaceId, documentId, itemId: item.id }} title={title} />
      )}
      <p className="row small muted">
        <Icon name={ICONS[modality] ?? 'file'} size={16} />
        {NAMES[modality]}
        {pageNumber !== undefined && <span className="number">page {pageNumber}</span>}
      </p>
      {title !== undefined && <h3 className="wrap">{title}</h3>}
      {words !== undefined && <p className="item-words small muted wrap">{words}</p>}
      {startOffset !== undefined && endOffset !== undefined && (
        <Button small kind="quiet" onClick={() => setQuery({ tab: 'read', at: `${startOffset}-${endOffset}` })}>
          In the text
        </Button>
      )}
    </li>
  )
}

function Preview({
  path,
  title,
}: {
  path: { id: string; documentId: string; itemId: string }
  title: string | undefined
}) {
  const drawn = usePicture('GET /knowledge-spaces/{id}/documents/{documentId}/multimodal/{itemId}/asset', {
    path,
    query: { variant: 'preview' },
  })
  return (
    <span className="item-picture">
      {drawn.url !== undefined && <img src={drawn.url} alt={title ?? 'Picture in the document'} />}
      {drawn.error !== undefined && <span className="faint small">{drawn.error}</span>}
    </span>
  )
}
