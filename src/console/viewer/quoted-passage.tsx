import './quoted.css'
import { lazy, type ReactNode, Suspense, useState } from 'react'
import type { EvidenceItem } from '../../contract/gateway/queries.js'
import { classes } from '../ui/button.js'
import { formatLocation } from '../ui/format.js'

const DocumentSheet = lazy(() => import('./document-sheet.js').then((module) => ({ default: module.DocumentSheet })))

const MAX_TEXT_CHARS = 600

interface QuotedPassageProps {
  spaceId: string
  passage: Pick<EvidenceItem, 'citations' | 'metadata' | 'text'>
  tone?: 'good' | 'bad'
  /** shown next to the name */
  aside?: ReactNode
}

/** A passage with its location and text; its name opens the document at the passage. Nothing without a citation. */
export function QuotedPassage({ spaceId, passage, tone, aside }: QuotedPassageProps) {
  const [isOpen, setOpen] = useState(false)
  const [citation] = passage.citations
  if (citation === undefined) return null
  const filename = getFilename(passage)
  const location = formatLocation(citation.pageNumber, citation.sectionPath)
  return (
    <div className={classes('quoted', tone !== undefined && `quoted-${tone}`)}>
      <div className="quoted-head">
        <button type="button" className="quoted-name one-line" title={filename} onClick={() => setOpen(true)}>
          {filename}
        </button>
        {aside}
      </div>
      {location !== '' && <p className="small faint one-line">{location}</p>}
      <p className="quoted-text">{passage.text.slice(0, MAX_TEXT_CHARS)}</p>
      {isOpen && (
        <Suspense>
          <DocumentSheet spaceId={spaceId} citation={citation} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </div>
  )
}

/** Name of the document of a passage; '' if unknown. */
export function getFilename({ metadata }: Pick<EvidenceItem, 'metadata'>): string {
  return typeof metadata.filename === 'string' ? metadata.filename : ''
}
