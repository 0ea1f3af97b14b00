import { lazy, Suspense, useMemo } from 'react'
import type { GoldenRun } from '../../../contract/gateway/golden-runs.js'
import { LIMITS } from '../../../contract/limits.js'
import { useBoundedList } from '../../api/bounded-list.js'
import { setQuery, useRoute } from '../../router.js'
import { Button } from '../../ui/button.js'
import { formatAgo, formatCount, formatMoment } from '../../ui/format.js'
import { Badge, Empty, ErrorNotice, Loaded, Skeleton } from '../../ui/state.js'
import { Compare } from './compare.js'
import { useGoldenQuestions } from './golden.js'
import { RunControl } from './run-now.js'
import { computePassedFraction, RUNS } from './runs.js'

const Plot = lazy(() => import('./plot.js').then(({ Plot }) => ({ default: Plot })))

/** Maximum number of runs that are shown. */
const MAX_RUNS = 20
const RUNNING_POLL_MS = 1000

/** Tab of golden runs: their results over time, and a comparison of two runs. */
export function GoldenRuns({ spaceId }: { spaceId: string }) {
  const golden = useGoldenQuestions(spaceId)
  return (
    <Loaded query={golden} lines={8}>
      {({ items, isTruncated }) =>
        items.length === 0 ? (
          <Empty icon="quality" title="No golden questions yet">
            <p>A run asks each golden question and compares passages and answer with the expected ones.</p>
            <Button kind="primary" onClick={() => setQuery({ tab: 'golden' })}>
              Golden questions
            </Button>
          </Empty>
        ) : (
          <RunsView spaceId={spaceId} questionCount={isTruncated ? undefined : items.length} />
        )
      }
    </Loaded>
  )
}

function RunsView({ spaceId, questionCount }: { spaceId: string; questionCount: number | undefined }) {
  const runs = useBoundedList(
    RUNS,
    (position) => ({ path: { id: spaceId }, query: { limit: MAX_RUNS, ...position } }),
    {
      maxItems: MAX_RUNS,
      refetchInterval: (last) => (last?.items.some(({ status }) => status === 'running') ? RUNNING_POLL_MS : false),
    },
  )
  const items = runs.data?.items ?? []
  return (
    <div className="stack">
      <RunControl spaceId={spaceId} questionCount={questionCount} runs={items} />
      {runs.isError ? (
        <ErrorNotice error={runs.error} retry={() => void runs.refetch()} />
      ) : runs.isPending ? (
        <Skeleton lines={6} />
      ) : items.length === 0 ? (
        <Empty icon="quality" title="No runs yet">
          <p>
            Start one here, or with <code>ks golden run</code>.
          </p>
        </Empty>
      ) : (
        <>
          <RunsOverview runs={items} />
          <p className="small faint">
            Your own runs, here and by <code>ks golden run</code>.
            {runs.data.isTruncated && ` The newest ${formatCount(MAX_RUNS)} are shown.`}
          </p>
          <SelectedRuns runs={items} spaceId={spaceId} />
        </>
      )}
    </div>
  )
}

function RunsOverview({ runs }: { runs: readonly GoldenRun[] }) {
  const points = useMemo(
    () =>
      runs
        .map((run) => ({
          id: run.id,
          startedAt: run.createdAt,
          passed: computePassedFraction(run),
          recall: run.metrics?.recall,
        }))
        .reverse(),
    [runs],
  )
  const { query } = useRoute()
  const { before, after } = selectRuns(runs, query)
  return (
    <div className="panel stack">
      <Suspense fallback={<Skeleton lines={6} />}>
        <Plot points={points} onSelect={(id) => setQuery({ after: id, before: undefined })} />
      </Suspense>
      <div className="table-frame">
        <table className="table runs">
          <thead>
            <tr>
              <th>Run</th>
              <th>Mode</th>
              <th className="right">Questions</th>
              <th className="right">Passed</th>
              <th className="right">Recall</th>
              <th className="right">Answers</th>
              <th>Compare</th>
            </tr>
          </thead>
          <tbody>
            {runs.map((run) => {
              const formatPercent = (fraction: number | undefined) =>
                fraction === undefined ? (run.status === 'running' ? '…' : '–') : `${Math.round(fraction * 100)} %`
              return (
                <tr key={run.id}>
                  <td title={formatMoment(run.createdAt)}>
                    {formatAgo(run.createdAt)}
                    {run.error !== undefined && <Badge tone="bad">{run.error}</Badge>}
                  </td>
                  <td>{run.mode ?? 'default'}</td>
                  <td className="right">{formatCount(run.questions)}</td>
                  <td className="right">{formatPercent(computePassedFraction(run))}</td>
                  <td className="right">{formatPercent(run.metrics?.recall)}</td>
                  <td className="right">{formatPercent(run.metrics?.answer)}</td>
                  <td>
                    <span className="compare-pick">
                      <label>
                        <input
                          type="radio"
                          name="before"
                          checked={before?.id === run.id}
                          onChange={() => setQuery({ before: run.id, after: after?.id }, { replace: true })}
                        />
                        <span className="small">before</span>
                      </label>
                      <label>
                        <input
                          type="radio"
                          name="after"
                          checked={after?.id === run.id}
                          onChange={() => setQuery({ after: run.id, before: before?.id }, { replace: true })}
                        />
                        <span className="small">after</span>
                      </label>
                    </span>
                  </td>
                </tr>
              )
            })}
          </tbody>
        </table>
      </div>
    </div>
  )
}

/**
 * The two runs to compare: those in the URL, else the newest that has ended and the one before it.
 *
 * @param runs newest first
 */
function selectRuns(runs: readonly GoldenRun[], query: URLSearchParams) {
  const ended = runs.filter(({ status }) => status !== 'running')
  const findRun = (id: string | null) => ended.find((run) => run.id === id)
  const after = findRun(query.get('after')) ?? ended[0]
  const afterIndex = ended.findIndex(({ id }) => id === after?.id)
  return { after, before: findRun(query.get('before')) ?? ended[afterIndex + 1] }
}

function SelectedRuns({ runs, spaceId }: { runs: readonly GoldenRun[]; spaceId: string }) {
  const { query } = useRoute()
  const { before, after } = selectRuns(runs, query)
  const beforeResults = useResults(spaceId, before)
  const afterResults = useResults(spaceId, after)
  if (after === undefined) return null
  const error = afterResults.error ?? beforeResults.error
  if (error !== null) return <ErrorNotice error={error} />
  if (afterResults.data === undefined || (before !== undefined && beforeResults.data === undefined)) return <Skeleton />
  return (
    <Compare
      spaceId={spaceId}
      before={before && { run: before, results: beforeResults.data?.items ?? [] }}
      after={{ run: after, results: afterResults.data.items }}
    />
  )
}

/** Reads the results of a run, if there is one. */
function useResults(spaceId: string, run: GoldenRun | undefined) {
  return useBoundedList(
    'GET /knowledge-spaces/{id}/golden-runs/{runId}/results',
    (position) => ({ path: { id: spaceId, runId: run?.id ?? '' }, query: { limit: LIMITS.page.cap, ...position } }),
    { enabled: run !== undefined, maxItems: LIMITS.goldenPerSpace },
  )
}
