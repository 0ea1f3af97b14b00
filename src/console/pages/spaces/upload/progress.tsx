import { useEffect, useState } from 'react'
import { useInvalidate } from '../../../api/use.js'
import { pageHref } from '../../../router.js'
import { Button, Link } from '../../../ui/button.js'
import { formatBytes, plural } from '../../../ui/format.js'
import { Badge, type Tone } from '../../../ui/state.js'
import { clearEnded, hasEnded, type QueuedUpload, retryFailed, useUploads } from './queue.js'

/** Labels in the order in which the uploads are listed. */
const STATE_LABELS: Record<QueuedUpload['state'], { tone: Tone; label: string }> = {
  failed: { tone: 'bad', label: 'failed' },
  sending: { tone: 'accent', label: 'sending' },
  reading: { tone: 'accent', label: 'reading' },
  waiting: { tone: 'neutral', label: 'waiting' },
  done: { tone: 'good', label: 'done' },
  existing: { tone: 'neutral', label: 'already there' },
}
const STATE_ORDER = Object.keys(STATE_LABELS)
/** Number of rows that are shown until the list is expanded. */
const INITIAL_ROWS = 50

/** Progress of the files added to a space in this tab, with the reason of each failure. */
export function UploadProgress({ spaceId }: { spaceId: string }) {
  const uploads = useUploads(spaceId)
  const [isExpanded, setExpanded] = useState(false)
  const invalidate = useInvalidate()
  const endedCount = uploads.filter(hasEnded).length
  const failedCount = uploads.filter(({ state }) => state === 'failed').length
  // biome-ignore lint/correctness/useExhaustiveDependencies: a finished upload changes the figures of the cards
  useEffect(() => {
    if (endedCount > 0) void invalidate('GET /knowledge-spaces/{id}/stats', 'GET /knowledge-spaces/{id}/jobs')
  }, [endedCount])
  if (uploads.length === 0) return null

  const sorted = uploads.toSorted((a, b) => STATE_ORDER.indexOf(a.state) - STATE_ORDER.indexOf(b.state))
  const visible = isExpanded ? sorted : sorted.slice(0, INITIAL_ROWS)
  // a file that is sent completely counts half until the daemon has read it
  const doneCount = uploads.reduce((sum, upload) => sum + (hasEnded(upload) ? 1 : upload.sentFraction / 2), 0)
  return (
    <div className="uploads">
      <div className="row uploads-head">
        <p role="status" className="number">
          {endedCount} of {plural(uploads.length, 'file')}
          {failedCount > 0 && <span className="error-text">, {failedCount} failed</span>}
        </p>
        <div className="row">
          {failedCount > 0 && (
            <Button small icon="refresh" onClick={() => retryFailed(spaceId)}>
              Retry failed
            </Button>
          )}
          {endedCount > 0 && (
            <Button small kind="quiet" onClick={() => clearEnded(spaceId)}>
              Clear
            </Button>
          )}
        </div>
      </div>
      <div className="meter" aria-hidden="true">
        <div className="meter-fill" style={{ width: `${(doneCount / uploads.length) * 100}%` }} />
      </div>
      <ul className="upload-list">
        {visible.map((upload) => (
          <UploadRow key={upload.id} upload={upload} />
        ))}
      </ul>
      {visible.length < sorted.length && (
        <Button small kind="quiet" icon="down" onClick={() => setExpanded(true)}>
          {plural(sorted.length - visible.length, 'more file')}
        </Button>
      )}
    </div>
  )
}

function UploadRow({ upload }: { upload: QueuedUpload }) {
  const { name, sizeBytes, state, sentFraction, reason, documentId } = upload
  return (
    <li className="upload">
      <span className="wrap">
        {documentId === undefined ? name : <Link to={pageHref('documents', [documentId])}>{name}</Link>}
        {reason !== undefined && <span className="upload-reason small">{reason}</span>}
      </span>
      <span className="faint small number">
        {state === 'sending' ? `${Math.round(sentFraction * 100)} %` : formatBytes(sizeBytes)}
      </span>
      <Badge tone={STATE_LABELS[state].tone}>{STATE_LABELS[state].label}</Badge>
    </li>
  )
}
