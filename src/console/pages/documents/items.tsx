import type { MultimodalItem } from '../../../contract/gateway/document-parts.js'
import { useRead } from '../../api/use.js'
import { setQuery } from '../../router.js'
import { Button } from '../../ui/button.js'
import { Icon, type IconName } from '../../ui/icon.js'
import { type ItemPath, usePicture } from '../../ui/picture.js'
import { Empty, Loaded } from '../../ui/state.js'
import { useVisible } from '../../ui/visible.js'

interface DocumentItemsProps {
  spaceId: string
  documentId: string
}

const MODALITY_ICONS: Record<string, IconName> = { image: 'picture', table: 'table', code: 'code' }
const MODALITY_NAMES: Record<string, string> = { image: 'Picture', table: 'Table', code: 'Code' }

/** Pictures, tables and code of a document; pages have a separate tab. */
export function DocumentItems({ spaceId, documentId }: DocumentItemsProps) {
  const manifest = useRead('GET /knowledge-spaces/{id}/documents/{documentId}/multimodal', {
    path: { id: spaceId, documentId },
  })
  return (
    <Loaded query={manifest} lines={6}>
      {({ items }) => {
        const visible = items.filter(({ modality }) => modality !== 'page')
        if (visible.length === 0)
          return (
            <Empty icon="picture" title="No pictures or tables">
              <p>This document contains only text.</p>
            </Empty>
          )
        return (
          <ul className="item-grid">
            {visible.map((item) => (
              <ItemCard key={item.id} item={item} spaceId={spaceId} documentId={documentId} />
            ))}
          </ul>
        )
      }}
    </Loaded>
  )
}

function ItemCard({ item, spaceId, documentId }: DocumentItemsProps & { item: MultimodalItem }) {
  const [card, isSeen] = useVisible<HTMLLIElement>()
  const { modality, title, caption, textPreview, ocrText, pageNumber, startOffset, endOffset, sourceMetadata } = item
  const description = typeof sourceMetadata.description === 'string' ? sourceMetadata.description : undefined
  const text = caption ?? description ?? ocrText ?? textPreview
  const hasPicture = item.assetRef?.variants?.preview !== undefined
  return (
    <li className="item-card" ref={card}>
      {modality === 'image' && hasPicture && isSeen && (
        <ItemPreview path={{ id: spaceId, documentId, itemId: item.id }} title={title} />
      )}
      <p className="row small muted">
        <Icon name={MODALITY_ICONS[modality] ?? 'file'} size={16} />
        {MODALITY_NAMES[modality]}
        {pageNumber !== undefined && <span className="number">page {pageNumber}</span>}
      </p>
      {title !== undefined && <h3 className="wrap">{title}</h3>}
      {text !== undefined && <p className="item-text small muted wrap">{text}</p>}
      {startOffset !== undefined && endOffset !== undefined && (
        <Button small kind="quiet" onClick={() => setQuery({ tab: 'read', at: `${startOffset}-${endOffset}` })}>
          In the text
        </Button>
      )}
    </li>
  )
}

function ItemPreview({ path, title }: { path: ItemPath; title: string | undefined }) {
  const picture = usePicture(path, 'preview')
  return (
    <span className="item-picture">
      {picture.url !== undefined && <img src={picture.url} alt={title ?? 'Picture in the document'} />}
      {picture.error !== undefined && <span className="faint small">{picture.error}</span>}
    </span>
  )
}
