import { useEffect, useState } from 'react'
import { useInvalidate } from '../../../api/use.js'
import { pageHref } from '../../../router.js'
import { Button, Link } from '../../../ui/button.js'
import { formatBytes, plural } from '../../../ui/format.js'
import { Badge, type Tone } from '../../../ui/state.js'
import { clearEnded, hasEnded, type QueuedUpload, retryFailed, useUploads } from './queue.js'

const STATE_LABELS: Record<QueuedUpload['state'], { tone: Tone; title: string }> = {
  waiting: { tone: 'neutral', title: 'waiting' },
  sending: { tone: 'accent', title: 'sending' },
  reading: { tone: 'accent', title: 'reading' },
  done: { tone: 'good', title: 'done' },
  held: { tone: 'neutral', title: 'already there' },
  failed: { tone: 'bad', title: 'failed' },
}
/** Number of rows shown at first; failures come first. */
const INITIAL_ROWS = 50
const STATE_ORDER: readonly QueuedUpload['state'][] = ['failed', 'sending', 'reading', 'waiting', 'done', 'held']

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

  const sorted = [...uploads].sort((a, b) => STATE_ORDER.indexOf(a.state) - STATE_ORDER.indexOf(b.state))
  const visible = isExpanded ? sorted : sorted.slice(0, INITIAL_ROWS)
  const doneCount = uploads.reduce((sum, upload) => sum + (hasEnded(upload) ? 1 : upload.sent / 2), 0)
  return (
    <div className="uploads">
      <div className="row uploads-head">
        <p role="status" className="number">
          {endedCount} of {plural(uploads.length, 'file')}
          {failedCount > 0 && <span className="bad-words">, {failedCount} failed</span>}
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

function UploadRow({ upload: { name, size, state, sent, reason, documentId } }: { upload: QueuedUpload }) {
  return (
    <li className="upload">
      <span className="upload-name wrap">
        {documentId === undefined ? name : <Link to={pageHref('documents', [documentId])}>{name}</Link>}
        {reason !== undefined && <span className="upload-reason small">{reason}</span>}
      </span>
      <span className="faint small number">
        {state === 'sending' ? `${Math.round(sent * 100)} %` : formatBytes(size)}
      </span>
      <Badge tone={STATE_LABELS[state].tone}>{STATE_LABELS[state].title}</Badge>
    </li>
  )
}
