import { useEffect, useState } from 'react'
import { useForget } from '../../../api/use.js'
import { address } from '../../../router.js'
import { Button, Link } from '../../../ui/button.js'
import { formatBytes, plural } from '../../../ui/format.js'
import { Badge, type Tone } from '../../../ui/state.js'
import { clearEnded, hasEnded, retryFailed, type Upload, useUploads } from './queue.js'

const STATES: Record<Upload['state'], { tone: Tone; title: string }> = {
  waiting: { tone: 'neutral', title: 'waiting' },
  sending: { tone: 'accent', title: 'sending' },
  reading: { tone: 'accent', title: 'reading' },
  done: { tone: 'good', title: 'done' },
  held: { tone: 'neutral', title: 'already there' },
  failed: { tone: 'bad', title: 'failed' },
}
/** Number of rows shown at first; failures come first. */
const SHOWN = 50
const ORDER: readonly Upload['state'][] = ['failed', 'sending', 'reading', 'waiting', 'done', 'held']

/** Progress of the files added to a space in this tab, with the reason of each failure. */
export function Progress({ spaceId }: { spaceId: string }) {
  const uploads = useUploads(spaceId)
  const [isWhole, setWhole] = useState(false)
  const forget = useForget()
  const ended = uploads.filter(hasEnded).length
  const failed = uploads.filter(({ state }) => state === 'failed').length
  // biome-ignore lint/correctness/useExhaustiveDependencies: a finished upload changes the figures of the cards
  useEffect(() => {
    if (ended > 0) void forget('GET /knowledge-spaces/{id}/stats', 'GET /knowledge-spaces/{id}/jobs')
  }, [ended])
  if (uploads.length === 0) return null

  const sorted = [...uploads].sort((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state))
  const shown = isWhole ? sorted : sorted.slice(0, SHOWN)
  const share = uploads.reduce((sum, upload) => sum + (hasEnded(upload) ? 1 : upload.sent / 2), 0)
  return (
    <div className="uploads">
      <div className="row uploads-head">
        <p role="status" className="number">
          {ended} of {plural(uploads.length, 'file')}
          {failed > 0 && <span className="bad-words">, {failed} failed</span>}
        </p>
        <div className="row">
          {failed > 0 && (
            <Button small icon="refresh" onClick={() => retryFailed(spaceId)}>
              Retry failed
            </Button>
          )}
          {ended > 0 && (
            <Button small kind="quiet" onClick={() => clearEnded(spaceId)}>
              Clear
            </Button>
          )}
        </div>
      </div>
      <div className="meter" aria-hidden="true">
        <div className="meter-fill" style={{ width: `${(share / uploads.length) * 100}%` }} />
      </div>
      <ul className="upload-list">
        {shown.map((upload) => (
          <UploadRow key={upload.id} upload={upload} />
        ))}
      </ul>
      {shown.length < sorted.length && (
        <Button small kind="quiet" icon="down" onClick={() => setWhole(true)}>
          {plural(sorted.length - shown.length, 'more file')}
        </Button>
      )}
    </div>
  )
}

function UploadRow({ upload: { name, size, state, sent, reason, documentId } }: { upload: Upload }) {
  return (
    <li className="upload">
      <span className="upload-name wrap">
        {documentId === undefined ? name : <Link to={address('documents', [documentId])}>{name}</Link>}
        {reason !== undefined && <span className="upload-reason small">{reason}</span>}
      </span>
      <span className="faint small number">
        {state === 'sending' ? `${Math.round(sent * 100)} %` : formatBytes(size)}
      </span>
      <Badge tone={STATES[state].tone}>{STATES[state].title}</Badge>
    </li>
  )
}
