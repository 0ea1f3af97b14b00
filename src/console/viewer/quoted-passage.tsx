import './quoted.css'
import { lazy, type ReactNode, Suspense, useState } from 'react'
import type { Citation } from '../../contract/gateway/queries.js'
import { classes } from '../ui/button.js'

const DocumentSheet = lazy(() => import('./document-sheet.js').then((module) => ({ default: module.DocumentSheet })))

interface QuotedPassageProps {
  spaceId: string
  citation: Citation
  filename: string
  text?: string | undefined
  tone?: 'good' | 'bad'
  aside?: ReactNode
}

/** A passage with its location and text; its name opens the document at the passage. */
export function QuotedPassage({ spaceId, citation, filename, text, tone, aside }: QuotedPassageProps) {
  const [isOpen, setOpen] = useState(false)
  const page = citation.pageNumber === undefined ? '' : `page ${citation.pageNumber}`
  const location = [page, ...citation.sectionPath].filter((part) => part !== '').join(' › ')
  return (
    <div className={classes('quoted', tone !== undefined && `quoted-${tone}`)}>
      <div className="quoted-head">
        <button type="button" className="quoted-name one-line" title={filename} onClick={() => setOpen(true)}>
          {filename}
        </button>
        {aside}
      </div>
      {location !== '' && <p className="small faint one-line">{location}</p>}
      {text !== undefined && <p className="quoted-text">{text.slice(0, 600)}</p>}
      {isOpen && (
        <Suspense>
          <DocumentSheet
            spaceId={spaceId}
            documentId={citation.documentAssetId}
            version={citation.documentVersion}
            target={citation}
            onClose={() => setOpen(false)}
          />
        </Suspense>
      )}
    </div>
  )
}
