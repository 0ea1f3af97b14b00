import type { EvidenceItem } from '../../../contract/gateway/queries.js'
import { classes } from '../../ui/button.js'
import { formatDay, formatLocation, splitPath } from '../../ui/format.js'
import { Icon, type IconName } from '../../ui/icon.js'
import { Badge } from '../../ui/state.js'
import { getFilename } from '../../viewer/quoted-passage.js'

const KIND_ICONS: Record<string, IconName> = { table: 'table', image: 'picture', code: 'code' }

interface EvidenceCardProps {
  item: EvidenceItem
  number: number
  isCited: boolean
  onOpen: () => void
}

/** A passage with location, text and score; a click opens the document at the passage. */
export function EvidenceCard({ item, number, isCited, onOpen }: EvidenceCardProps) {
  const { citations, metadata, freshness, conflicts, score } = item
  const [citation] = citations
  const filename = getFilename(item)
  const { folder, name } = splitPath(filename)
  const date = typeof metadata.documentDate === 'string' ? formatDay(metadata.documentDate) : undefined
  const location = formatLocation(citation?.pageNumber, citation?.sectionPath ?? [])
  return (
    <button type="button" className={classes('passage', isCited && 'is-cited')} onClick={onOpen}>
      <span className="passage-head">
        <span className={classes('passage-number', isCited && 'is-cited')}>{number}</span>
        <Icon name={KIND_ICONS[String(metadata.nodeKind)] ?? 'file'} size={16} />
        <span className="passage-name" title={filename}>
          <span className="passage-folder one-line faint">{folder}</span>
          <span className="one-line">{name}</span>
        </span>
        {date !== undefined && <span className="passage-date small faint">{date}</span>}
        {freshness === 'stale' && <Badge tone="warn">older version</Badge>}
        {conflicts.length > 0 && <Badge tone="bad">contradicted</Badge>}
        <span className="passage-score number faint" title="Score, from 0 to 1">
          {score.toFixed(2)}
        </span>
      </span>
      {location !== '' && <span className="one-line small muted">{location}</span>}
      <span className="passage-text">{toSnippet(item.text)}</span>
      {conflicts[0] !== undefined && <span className="small error-text">{conflicts[0].reason}</span>}
    </button>
  )
}

const MAX_SNIPPET_CHARS = 500
/** Characters of a passage that the snippet is made of; borders of empty table cells are removed from them. */
const SNIPPET_SOURCE_CHARS = 900

/** The beginning of a passage on one line, without empty table cells. */
function toSnippet(text: string): string {
  return text
    .slice(0, SNIPPET_SOURCE_CHARS)
    .replace(/(?:[^\S\n]*\|[^\S\n]*)+/g, ' · ')
    .replace(/\s*\n\s*(?:· )?/g, ' ')
    .slice(0, MAX_SNIPPET_CHARS)
}
