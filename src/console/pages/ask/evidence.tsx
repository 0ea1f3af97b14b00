import type { EvidenceItem } from '../../../contract/gateway/queries.js'
import { classes } from '../../ui/button.js'
import { formatDay, splitPath } from '../../ui/format.js'
import { Icon, type IconName } from '../../ui/icon.js'
import { Badge } from '../../ui/state.js'

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
  const citation = citations[0]
  const filename = typeof metadata.filename === 'string' ? metadata.filename : ''
  const { folder, name } = splitPath(filename)
  const date = typeof metadata.documentDate === 'string' ? formatDay(metadata.documentDate) : undefined
  const location = [
    citation?.pageNumber === undefined ? undefined : `page ${citation.pageNumber}`,
    ...(citation?.sectionPath ?? []),
  ].filter((part) => part !== undefined)
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
      {location.length > 0 && <span className="passage-place one-line small muted">{location.join(' › ')}</span>}
      <span className="passage-text">{snippetOf(item.text)}</span>
      {conflicts[0] !== undefined && <span className="small bad-words">{conflicts[0].reason}</span>}
    </button>
  )
}

/** The beginning of a passage, without empty table cells. */
function snippetOf(text: string): string {
  return text
    .slice(0, 900)
    .replace(/(?:[^\S\n]*\|[^\S\n]*)+/g, ' · ')
    .replace(/\s*\n\s*(?:· )?/g, ' ')
    .slice(0, 500)
}
