import './quoted.css'
import type { ReactNode } from 'react'
import type { Citation } from '../../contract/gateway/queries.js'
import { address } from '../router.js'
import { classes, Link } from './button.js'

interface QuotedProps {
  space: string
  citation: Pick<Citation, 'documentAssetId' | 'pageNumber' | 'sectionPath' | 'documentVersion'>
  nodeId: string
  filename: string
  text?: string | undefined
  tone?: 'good' | 'bad'
  aside?: ReactNode
}

/** A passage: where it stands, what it says; it leads to the document, at the passage. */
export function Quoted({ space, citation, nodeId, filename, text, tone, aside }: QuotedProps) {
  const place = [citation.pageNumber === undefined ? '' : `page ${citation.pageNumber}`, ...citation.sectionPath]
  const said = place.filter((part) => part !== '').join(' › ')
  return (
    <div className={classes('quoted', tone !== undefined && `quoted-${tone}`)}>
      <div className="quoted-head">
        <Link to={passageAddress(space, citation, nodeId)} className="one-line" title={filename}>
          {filename}
        </Link>
        {aside}
      </div>
      {said !== '' && <p className="small faint one-line">{said}</p>}
      {text !== undefined && <p className="quoted-text">{text.slice(0, 600)}</p>}
    </div>
  )
}

/** Where a document is shown at a passage. */
export function passageAddress(
  space: string,
  { documentAssetId, pageNumber }: Pick<Citation, 'documentAssetId' | 'pageNumber'>,
  nodeId: string,
): string {
  return address('documents', [documentAssetId], { space, passage: nodeId, page: pageNumber?.toString() })
}
