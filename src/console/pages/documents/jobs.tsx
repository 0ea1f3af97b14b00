import type { ListedJob } from '../../../contract/gateway/jobs.js'
import { messageOf } from '../../api/client.js'
import { useRead, useWrite } from '../../api/use.js'
import { pageHref } from '../../router.js'
import { Button, Link } from '../../ui/button.js'
import { formatAgo } from '../../ui/format.js'
import { Badge, Empty, Loaded, Notice } from '../../ui/state.js'
import { showToast } from '../../ui/toast.js'

const MAX_JOBS = 200
const POLL_MS = 2_000
const JOBS = 'GET /knowledge-spaces/{id}/jobs'

/** Documents in progress, or failed ones with their reasons. */
export function DocumentJobs({ spaceId, isFailed }: { spaceId: string; isFailed: boolean }) {
  const path = { id: spaceId }
  const jobs = useRead(
    JOBS,
    { path, query: { state: isFailed ? 'failed' : 'open', limit: MAX_JOBS } },
    isFailed ? {} : { refetchInterval: POLL_MS },
  )
  const retryAll = useWrite('POST /knowledge-spaces/{id}/jobs/retry', [JOBS])
  return (
    <Loaded query={jobs} lines={6}>
      {({ items, nextCursor }) =>
        items.length === 0 ? (
          <Empty icon="check" title={isFailed ? 'Nothing failed' : 'Nothing is being read'}>
            <p>{isFailed ? 'Every document could be read.' : 'All added documents are published.'}</p>
          </Empty>
        ) : (
          <div className="stack">
            {isFailed && (
              <div className="row">
                <Button
                  icon="refresh"
                  busy={retryAll.isPending}
                  onClick={() =>
                    retryAll.mutate(
                      { path },
                      { onSuccess: ({ total }) => showToast(`${total} documents are read again.`) },
                    )
                  }
                >
                  Read all of them again
                </Button>
                {retryAll.isError && <span className="error-text">{messageOf(retryAll.error)}</span>}
              </div>
            )}
            {nextCursor !== undefined && <Notice>The newest {items.length} are shown.</Notice>}
            <ul className="job-list">
              {items.map((job) => (
                <DocumentJobRow key={job.id} job={job} />
              ))}
            </ul>
          </div>
        )
      }
    </Loaded>
  )
}

function DocumentJobRow({ job }: { job: ListedJob }) {
  const isFailed = job.stage === 'failed'
  const retryOrCancel = useWrite(isFailed ? 'POST /jobs/{id}/retry' : 'DELETE /jobs/{id}', [JOBS])
  return (
    <li className="job">
      <div className="job-text">
        <Link className="wrap document-link" to={pageHref('documents', [job.documentAssetId])}>
          {job.filename}
        </Link>
        <p className={isFailed ? 'small error-text wrap' : 'small muted'}>{describeJob(job)}</p>
      </div>
      <Badge tone={isFailed ? 'bad' : 'accent'}>{job.stage.replaceAll('_', ' ')}</Badge>
      <Button
        small
        kind="quiet"
        busy={retryOrCancel.isPending}
        onClick={() => retryOrCancel.mutate({ path: { id: job.id } })}
      >
        {isFailed ? 'Read again' : 'Cancel'}
      </Button>
    </li>
  )
}

/** `page 3 of 120` */
export function formatProgress({ unit, at, total }: NonNullable<ListedJob['progress']>): string {
  return `${unit} ${at}${total === undefined ? '' : ` of ${total}`}`
}

function describeJob({ error, progress, retryAt, waitingSince, updatedAt }: ListedJob): string {
  if (progress !== undefined) return formatProgress(progress)
  if (retryAt !== undefined) return `${error ?? 'failed'}; next attempt ${formatAgo(retryAt)}`
  if (waitingSince !== undefined) return `waiting since ${formatAgo(waitingSince)}: ${error ?? 'temporary problem'}`
  return error ?? formatAgo(updatedAt)
}
