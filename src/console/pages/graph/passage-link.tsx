import { useState } from 'react'
import { useRead } from '../../api/use.js'
import { splitPath } from '../../ui/format.js'
import { DocumentSheet } from '../../viewer/document-sheet.js'

interface PassageLinkProps {
  spaceId: string
  documentId: string
  filename: string
  nodeId: string
  pageNumber?: number | undefined
  /** sentence of the passage; a search for it finds the passage's location */
  text: string
}

/** Link with the name of a document that opens it at a passage. The location is searched on the first click. */
export function PassageLink({ spaceId, documentId, filename, nodeId, pageNumber, text }: PassageLinkProps) {
  const [isOpen, setOpen] = useState(false)
  const path = { id: spaceId }
  const document = useRead(
    'GET /knowledge-spaces/{id}/documents/{documentId}',
    { path: { ...path, documentId } },
    { enabled: isOpen },
  )
  const search = useRead(
    'POST /knowledge-spaces/{id}/queries/search',
    { path, body: { query: text, activeDocumentIds: [documentId], limit: 50 } },
    { enabled: isOpen },
  )
  const citation = search.data?.items.find((item) => item.nodeId === nodeId)?.citations[0]
  return (
    <>
      <button type="button" className="quoted-name wrap" title={filename} onClick={() => setOpen(true)}>
        {splitPath(filename).name}
        {pageNumber !== undefined && `, page ${pageNumber}`}
      </button>
      {isOpen && document.data !== undefined && !search.isPending && (
        <DocumentSheet
          spaceId={spaceId}
          citation={
            citation ?? {
              documentAssetId: documentId,
              documentVersion: document.data.version,
              sectionPath: [],
              ...(pageNumber === undefined ? {} : { pageNumber }),
            }
          }
          onClose={() => setOpen(false)}
        />
      )}
    </>
  )
}
