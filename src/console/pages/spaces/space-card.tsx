import { useEffect, useRef, useState } from 'react'
import type { KnowledgeSpace } from '../../../contract/gateway/spaces.js'
import { rememberSpace } from '../../api/space.js'
import { useRead } from '../../api/use.js'
import { pageHref } from '../../router.js'
import { Button, classes, Link } from '../../ui/button.js'
import { formatBytes, plural } from '../../ui/format.js'
import { RelativeTime } from '../../ui/relative-time.js'
import { Badge, Skeleton } from '../../ui/state.js'
import { showError } from '../../ui/toast.js'
import { useVisible } from '../../ui/visible.js'
import { AddDocuments } from './add-documents.js'
import { readDrop } from './upload/file-selection.js'
import { addFiles } from './upload/queue.js'

/** Interval of reading a space's open jobs while there are any. */
const OPEN_POLL_MS = 2_000
/** Maximum number of jobs that are counted. */
const MAX_COUNTED_JOBS = 100

/** Card of a space: its size, state and actions. Files can be dropped on it. */
export function SpaceCard({ space }: { space: KnowledgeSpace }) {
  const [card, isSeen] = useVisible<HTMLLIElement>()
  const path = { id: space.id }
  const stats = useRead('GET /knowledge-spaces/{id}/stats', { path, query: {} }, { enabled: isSeen })
  const openJobs = useRead(
    'GET /knowledge-spaces/{id}/jobs',
    { path, query: { state: 'open', limit: MAX_COUNTED_JOBS } },
    {
      enabled: isSeen,
      refetchInterval: (last) => (last !== undefined && last.items.length > 0 ? OPEN_POLL_MS : false),
    },
  )
  const failedJobs = useRead(
    'GET /knowledge-spaces/{id}/jobs',
    { path, query: { state: 'failed', limit: MAX_COUNTED_JOBS } },
    { enabled: isSeen },
  )
  const openCount = openJobs.data?.items.length
  const total = stats.data?.storage.documentCount
  const { refetch: refetchStats } = stats
  const { refetch: refetchFailed } = failedJobs
  const previousOpenCount = useRef(openCount)
  useEffect(() => {
    // a finished job changes the counts of documents and failures
    if (openCount !== previousOpenCount.current && previousOpenCount.current !== undefined) {
      void refetchStats()
      void refetchFailed()
    }
    previousOpenCount.current = openCount
  }, [openCount, refetchStats, refetchFailed])
  const manifest = useRead('GET /knowledge-spaces/{id}/manifest', { path }, { enabled: isSeen })
  const [isAdding, setAdding] = useState(false)
  const [isOver, setOver] = useState(false)
  const drop = (event: React.DragEvent) => {
    event.preventDefault()
    setOver(false)
    setAdding(true)
    readDrop(event.dataTransfer).then(({ files }) => addFiles(space.id, files), showError)
  }
  const hrefTo = (page: string) => pageHref(page, [], { space: space.slug })
  const remember = () => rememberSpace(space.slug)
  return (
    <li
      className={classes('space-card', isOver && 'is-over')}
      ref={card}
      onDragOver={(event) => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      <div className="space-card-head">
        <h2 className="space-card-name" title={space.name}>
          {space.name}
        </h2>
        <IndexStateBadge openCount={openCount} failedCount={failedJobs.data?.items.length} documentCount={total} />
      </div>
      <p className="faint small mono wrap">{space.slug}</p>
      {space.description !== undefined && <p className="muted space-card-text">{space.description}</p>}
      {stats.data === undefined ? (
        <Skeleton lines={2} />
      ) : (
        <p className="space-card-figures number">
          <strong>{plural(stats.data.storage.documentCount, 'document')}</strong>
          <span className="faint">
            changed <RelativeTime time={space.updatedAt} />
          </span>
        </p>
      )}
      {stats.data !== undefined && manifest.data !== undefined && (
        <QuotaMeter used={stats.data.storage.rawDocumentBytes} max={manifest.data.quotaPolicy.maxRawDocumentBytes} />
      )}
      <div className="row space-card-end">
        {total !== 0 && (
          <>
            <Link className="button button-primary button-small" to={hrefTo('ask')} onClick={remember}>
              Ask
            </Link>
            <Link className="button button-plain button-small" to={hrefTo('documents')} onClick={remember}>
              Documents
            </Link>
          </>
        )}
        <Button small kind={total === 0 ? 'primary' : 'quiet'} icon="upload" onClick={() => setAdding(true)}>
          {total === 0 ? 'Add documents' : 'Add'}
        </Button>
      </div>
      {isAdding && <AddDocuments space={space} onClose={() => setAdding(false)} />}
    </li>
  )
}

/** Fraction of a quota from which the meter warns. */
const WARN_FRACTION = 0.8

/** Meter of the used fraction of a quota. */
function QuotaMeter({ used, max }: { used: number; max: number }) {
  const fraction = max === 0 ? 1 : Math.min(1, used / max)
  return (
    <div className="space-card-meter">
      <div className="meter" aria-hidden="true">
        <div
          className={classes('meter-fill', fraction >= WARN_FRACTION && 'is-warn')}
          style={{ width: `${Math.max(fraction * 100, used > 0 ? 1 : 0)}%` }}
        />
      </div>
      <p className="faint small number">
        {formatBytes(used)} of {formatBytes(max)}
      </p>
    </div>
  )
}

interface IndexStateBadgeProps {
  /** numbers of jobs; undefined until they are loaded */
  openCount: number | undefined
  failedCount: number | undefined
  documentCount: number | undefined
}

/** Badge that states whether all documents of the space are searchable. */
function IndexStateBadge({ openCount, failedCount, documentCount }: IndexStateBadgeProps) {
  const format = (count: number) => (count === MAX_COUNTED_JOBS ? `${count} or more` : String(count))
  if (openCount === undefined || failedCount === undefined) return null
  if (openCount > 0) return <Badge tone="accent">reading {format(openCount)}</Badge>
  if (failedCount > 0) return <Badge tone="warn">{format(failedCount)} failed</Badge>
  return documentCount === 0 ? <Badge>empty</Badge> : <Badge tone="good">up to date</Badge>
}
