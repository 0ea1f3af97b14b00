import './viewer.css'
import type { Citation } from '../../contract/gateway/queries.js'
import { useRead } from '../api/use.js'
import { address } from '../router.js'
import { Link } from '../ui/button.js'
import { splitPath } from '../ui/format.js'
import { Dialog } from '../ui/parts.js'
import { Loaded, Notice } from '../ui/state.js'
import type { DocumentElement } from './element.js'
import { PageOfDocument } from './page.js'
import { PictureOfDocument } from './picture-page.js'
import { Reading } from './reading.js'

interface DocumentSheetProps {
  spaceId: string
  documentId: string
  version: number
  target: Citation
  onClose: () => void
}

const NONE: readonly DocumentElement[] = []

/**
 * Side panel that shows a document at a passage: the rendered page, if it has pages, and the text with the passage
 * marked.
 */
export function DocumentSheet({ spaceId, documentId, version, target, onClose }: DocumentSheetProps) {
  const path = { id: spaceId, documentId }
  const document = useRead('GET /knowledge-spaces/{id}/documents/{documentId}', { path })
  const artifact = useRead('GET /knowledge-spaces/{id}/documents/{documentId}/parse-artifacts/{version}', {
    path: { ...path, version: String(version) },
  })
  const { folder, name } = splitPath(document.data?.filename ?? '')
  const mimeType = document.data?.mimeType ?? ''
  const isPaged = mimeType === 'application/pdf' && target.pageNumber !== undefined
  const isPicture = mimeType.startsWith('image/')
  const isBeside = isPaged || isPicture
  const shown = {
    spaceId,
    documentId,
    target,
    elements: artifact.data?.elements ?? NONE,
    isCurrent: document.data?.version === version,
  }
  return (
    <Dialog title={name === '' ? 'Document' : name} onClose={onClose} side={isBeside ? 'wide' : true}>
      <div className="stack">
        <p className="small muted wrap">
          {[
            folder.replace(/\/$/, ''),
            target.pageNumber === undefined ? '' : `page ${target.pageNumber}`,
            ...target.sectionPath,
          ]
            .filter((part) => part !== '')
            .join(' › ')}{' '}
          <Link to={address('documents', [documentId])} onClick={onClose}>
            Open the document
          </Link>
        </p>
        {document.data !== undefined && document.data.version !== version && (
          <Notice tone="warn">
            This is version {version}; the document has version {document.data.version} now.
          </Notice>
        )}
        <div className={isBeside ? 'beside' : undefined}>
          <Loaded of={artifact} lines={10}>
            {({ elements }) => (
              <Reading elements={elements} target={target} spaceId={spaceId} documentId={documentId} />
            )}
          </Loaded>
          {isPaged && target.pageNumber !== undefined && <PageOfDocument {...shown} pageNumber={target.pageNumber} />}
          {isPicture && <PictureOfDocument {...shown} />}
        </div>
      </div>
    </Dialog>
  )
}
