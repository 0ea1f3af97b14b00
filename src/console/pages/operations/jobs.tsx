import { useInfiniteQuery } from '@tanstack/react-query'
import type { CallResult } from '../../../client/routes.js'
import type { JobStage } from '../../../contract/gateway/jobs.js'
import type { JOB_STATES } from '../../../contract/values.js'
import { call } from '../../api/client.js'
import { useInvalidate, useWrite } from '../../api/use.js'
import { pageHref, setQuery, useRoute } from '../../router.js'
import { Button, Link } from '../../ui/button.js'
import { formatAgo, formatMoment, plural } from '../../ui/format.js'
import { Badge, Empty, ErrorNotice, Skeleton, type Tone } from '../../ui/state.js'
import { showError, showToast } from '../../ui/toast.js'
import { formatProgress } from '../documents/jobs.js'

const JOBS = 'GET /knowledge-spaces/{id}/jobs'
const PAGE_SIZE = 50
type JobListFilter = (typeof JOB_STATES)[number]
type SpaceJob = CallResult<typeof JOBS>['items'][number]
const FILTERS: readonly { id: '' | JobListFilter; title: string }[] = [
  { id: '', title: 'All' },
  { id: 'open', title: 'Open' },
  { id: 'reading', title: 'Being read' },
  { id: 'failed', title: 'Failed' },
]
const OPEN_POLL_MS = 2_000
const IDLE_POLL_MS = 10_000

/** Tab of compilation jobs with their failures, and buttons to retry or cancel them. */
export function JobsTab({ spaceId }: { spaceId: string }) {
  const { query } = useRoute()
  const state = FILTERS.find(({ id }) => id !== '' && id === query.get('state'))?.id ?? ''
  const jobs = useInfiniteQuery({
    queryKey: [JOBS, spaceId, state],
    queryFn: ({ pageParam, signal }) =>
      call(
        JOBS,
        {
          path: { id: spaceId },
          query: {
            limit: PAGE_SIZE,
            ...(state === '' ? {} : { state }),
            ...(pageParam === '' ? {} : { cursor: pageParam }),
          },
        },
        { signal },
      ),
    initialPageParam: '',
    getNextPageParam: (last) => last.nextCursor,
    refetchInterval: ({ state: { data } }) =>
      data?.pages.some(({ items }) => items.some(isOpen)) === true ? OPEN_POLL_MS : IDLE_POLL_MS,
  })
  const invalidate = useInvalidate()
  const retryAll = useWrite('POST /knowledge-spaces/{id}/jobs/retry')
  const retryFailed = () =>
    retryAll.mutate(
      { path: { id: spaceId } },
      {
        onSuccess: ({ total }) =>
          showToast(total === 0 ? 'Nothing has failed' : `${plural(total, 'document')} read again`),
        onError: showError,
        onSettled: () => invalidate(JOBS),
      },
    )
  const items = jobs.data?.pages.flatMap((page) => page.items) ?? []
  return (
    <div className="stack">
      <div className="row ops-bar">
        <fieldset className="segments">
          <legend className="sr-only">Which jobs</legend>
          {FILTERS.map(({ id, title }) => (
            <button
              key={id}
              type="button"
              className="segment"
              aria-pressed={id === state}
              onClick={() => setQuery({ state: id === '' ? undefined : id })}
            >
              {title}
            </button>
          ))}
        </fieldset>
        <Button small icon="refresh" busy={retryAll.isPending} onClick={retryFailed}>
          Retry all failed
        </Button>
      </div>
      {jobs.isPending && <Skeleton lines={6} />}
      {jobs.isError && <ErrorNotice error={jobs.error} retry={() => void jobs.refetch()} />}
      {jobs.isSuccess && items.length === 0 && (
        <Empty icon="check" title={state === 'failed' ? 'Nothing has failed' : 'No jobs'}>
          <p>Each added or changed document creates a job.</p>
        </Empty>
      )}
      {items.length > 0 && (
        <ul className="jobs panel">
          {items.map((job) => (
            <SpaceJobRow key={job.id} job={job} />
          ))}
        </ul>
      )}
      {jobs.hasNextPage && (
        <Button busy={jobs.isFetchingNextPage} onClick={() => void jobs.fetchNextPage()}>
          Show more
        </Button>
      )}
    </div>
  )
}

function SpaceJobRow({ job }: { job: SpaceJob }) {
  const retry = useWrite('POST /jobs/{id}/retry', [JOBS])
  const cancel = useWrite('DELETE /jobs/{id}', [JOBS])
  const path = { id: job.id }
  const canRetry = job.stage === 'failed' || job.stage === 'canceled' || job.retryAt !== undefined
  return (
    <li className="job">
      <div className="job-text">
        <p className="wrap">
          <Link className="job-name" to={pageHref('documents', [job.documentAssetId])}>
            {job.filename}
          </Link>
        </p>
        <p className="small faint">
          <span title={formatMoment(job.updatedAt)}>{formatAgo(job.updatedAt)}</span>
          {job.attempts > 0 && `, ${plural(job.attempts, 'attempt')} failed`}
          {job.retryAt !== undefined && `, next attempt ${formatAgo(job.retryAt)}`}
          {job.progress !== undefined && `, ${formatProgress(job.progress)}`}
          {job.waitingSince !== undefined && `, waiting since ${formatMoment(job.waitingSince)}`}
        </p>
        {job.error !== undefined && <p className="small job-error wrap">{job.error}</p>}
      </div>
      <div className="row">
        <Badge tone={getStageTone(job.stage)}>{job.stage.replaceAll('_', ' ')}</Badge>
        {canRetry && (
          <Button small busy={retry.isPending} onClick={() => retry.mutate({ path }, { onError: showError })}>
            Retry
          </Button>
        )}
        {isOpen(job) && (
          <Button
            small
            kind="danger"
            busy={cancel.isPending}
            onClick={() => cancel.mutate({ path }, { onError: showError })}
          >
            Cancel
          </Button>
        )}
      </div>
    </li>
  )
}

function isOpen({ stage }: { stage: JobStage }): boolean {
  return stage !== 'published' && stage !== 'failed' && stage !== 'canceled'
}

function getStageTone(stage: JobStage): Tone {
  if (stage === 'published') return 'good'
  if (stage === 'failed') return 'bad'
  return stage === 'canceled' ? 'neutral' : 'accent'
}
