import './viewer.css'
import type { Citation } from '../../contract/gateway/queries.js'
import { useRead } from '../api/use.js'
import { pageHref } from '../router.js'
import { Link } from '../ui/button.js'
import { formatLocation, splitPath } from '../ui/format.js'
import { Dialog } from '../ui/parts.js'
import { Loaded, Notice } from '../ui/state.js'
import { DocumentText } from './document-text.js'
import type { DocumentElement } from './element.js'
import { RenderedPdfPage } from './page.js'
import { DocumentPicture } from './picture-page.js'

interface DocumentSheetProps {
  spaceId: string
  citation: Citation
  onClose: () => void
}

const NO_ELEMENTS: readonly DocumentElement[] = []

/**
 * Side panel that shows a document at a passage: the rendered page, if it has pages, and the text with the passage
 * marked.
 */
export function DocumentSheet({ spaceId, citation, onClose }: DocumentSheetProps) {
  const { documentAssetId: documentId, documentVersion: version, pageNumber, sectionPath } = citation
  const path = { id: spaceId, documentId }
  const document = useRead('GET /knowledge-spaces/{id}/documents/{documentId}', { path })
  const artifact = useRead('GET /knowledge-spaces/{id}/documents/{documentId}/parse-artifacts/{version}', {
    path: { ...path, version: String(version) },
  })
  const { folder, name } = splitPath(document.data?.filename ?? '')
  const mimeType = document.data?.mimeType ?? ''
  const isPdfPage = mimeType === 'application/pdf' && pageNumber !== undefined
  const isPicture = mimeType.startsWith('image/')
  const hasPicture = isPdfPage || isPicture
  const pageProps = {
    spaceId,
    documentId,
    citation,
    elements: artifact.data?.elements ?? NO_ELEMENTS,
    isCurrent: document.data?.version === version,
  }
  return (
    <Dialog title={name === '' ? 'Document' : name} onClose={onClose} side={hasPicture ? 'wide' : true}>
      <div className="stack">
        <p className="small muted wrap">
          {[folder.replace(/\/$/, ''), formatLocation(pageNumber, sectionPath)].filter(Boolean).join(' › ')}{' '}
          <Link to={pageHref('documents', [documentId])} onClick={onClose}>
            Open the document
          </Link>
        </p>
        {document.data !== undefined && document.data.version !== version && (
          <Notice tone="warn">
            This is version {version}; the document has version {document.data.version} now.
          </Notice>
        )}
        <div className={hasPicture ? 'text-and-picture' : undefined}>
          <Loaded query={artifact} lines={10}>
            {({ elements }) => (
              <DocumentText elements={elements} target={citation} spaceId={spaceId} documentId={documentId} />
            )}
          </Loaded>
          {isPdfPage && <RenderedPdfPage {...pageProps} pageNumber={pageNumber} />}
          {isPicture && <DocumentPicture {...pageProps} />}
        </div>
      </div>
    </Dialog>
  )
}
