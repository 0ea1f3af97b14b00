import { useQueries, useQueryClient } from '@tanstack/react-query'
import { lazy, Suspense, useMemo } from 'react'
import type { GoldenQuestion } from '../../../contract/gateway/golden-questions.js'
import { useBoundedList } from '../../api/bounded-list.js'
import { setQuery, useRoute } from '../../router.js'
import { Button } from '../../ui/button.js'
import { formatAgo, formatCount, formatMoment, plural } from '../../ui/format.js'
import { Empty, ErrorNotice, Loaded, Notice, Skeleton } from '../../ui/state.js'
import { Compare } from './compare.js'
import type { QuestionResult } from './expectation.js'
import { useGoldenQuestions } from './golden.js'
import { RunControl } from './run-now.js'
import {
  averageRecall,
  deriveRuns,
  passedFraction,
  rightAnswerFraction,
  runResultsQuery,
  type TracedRun,
} from './runs.js'

const Plot = lazy(() => import('./plot.js').then(({ Plot }) => ({ default: Plot })))

export const TRACES = 'GET /knowledge-spaces/{id}/quality/traces'
/** Own traces that are searched for runs, at most. */
const MAX_TRACES = 3000
/** Runs that are evaluated at most; each reads one trace per question. */
const MAX_RUNS = 20

/** Tab of golden runs: their results over time, and a comparison of two runs. */
export function GoldenRuns({ spaceId }: { spaceId: string }) {
  const golden = useGoldenQuestions(spaceId)
  return (
    <Loaded query={golden} lines={8}>
      {({ items }) =>
        items.length === 0 ? (
          <Empty icon="quality" title="No golden questions yet">
            <p>A run asks each golden question and compares passages and answer with the expected ones.</p>
            <Button kind="primary" onClick={() => setQuery({ tab: 'golden' })}>
              Golden questions
            </Button>
          </Empty>
        ) : (
          <RunsView spaceId={spaceId} golden={items} />
        )
      }
    </Loaded>
  )
}

interface RunsViewProps {
  spaceId: string
  golden: readonly GoldenQuestion[]
}

function RunsView({ spaceId, golden }: RunsViewProps) {
  const traces = useBoundedList(
    TRACES,
    (cursor) => ({ path: { id: spaceId }, query: { limit: 100, ...(cursor === undefined ? {} : { cursor }) } }),
    { maxItems: MAX_TRACES },
  )
  const runs = useMemo(() => deriveRuns(traces.data?.items ?? [], golden).slice(0, MAX_RUNS), [traces.data, golden])
  const client = useQueryClient()
  const results = useQueries({
    queries: runs.map((run) => runResultsQuery(client, run, golden)),
    combine: (results) => ({
      of: results.map(({ data }) => data),
      error: results.find(({ error }) => error !== null)?.error,
    }),
  })
  return (
    <div className="stack">
      <RunControl spaceId={spaceId} golden={golden} />
      {traces.isError ? (
        <ErrorNotice error={traces.error} retry={() => void traces.refetch()} />
      ) : traces.isPending ? (
        <Skeleton lines={6} />
      ) : runs.length === 0 ? (
        <Empty icon="quality" title="No runs yet">
          <p>
            Start one here, or with <code>ks golden run</code>. A run is read from your traces of the golden questions.
          </p>
        </Empty>
      ) : (
        <>
          {results.error !== undefined && <ErrorNotice error={results.error} />}
          <RunsOverview runs={runs} results={results.of} />
          <p className="small faint">
            Read from your own traces: golden questions asked one after the other, each once, in one mode.
            {traces.data.isTruncated && ` The newest ${formatCount(MAX_TRACES)} traces are searched.`}
          </p>
          <SelectedRuns runs={runs} results={results.of} golden={golden} spaceId={spaceId} />
        </>
      )}
    </div>
  )
}

type RunResults = readonly (ReadonlyMap<string, QuestionResult> | undefined)[]

function RunsOverview({ runs, results }: { runs: readonly TracedRun[]; results: RunResults }) {
  const points = useMemo(
    () =>
      runs
        .map(({ id, startedAt }, index) => {
          const result = results[index]
          return { id, startedAt, passed: result && passedFraction(result), recall: result && averageRecall(result) }
        })
        .reverse(),
    [runs, results],
  )
  const { query } = useRoute()
  const { before, after } = selectRuns(runs, query)
  const formatPercent = (compute: number | undefined) =>
    compute === undefined ? '…' : `${Math.round(compute * 100)} %`
  const average = (result: RunResults[number], compute: typeof averageRecall) =>
    result === undefined ? '…' : result.size > 0 && compute(result) === undefined ? '–' : formatPercent(compute(result))
  return (
    <div className="panel stack">
      <Suspense fallback={<Skeleton lines={6} />}>
        <Plot points={points} onChoose={(id) => setQuery({ after: id, before: undefined })} />
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
            {runs.map((run, index) => {
              const result = results[index]
              return (
                <tr key={run.id}>
                  <td title={formatMoment(run.startedAt)}>{formatAgo(run.startedAt)}</td>
                  <td>{run.mode}</td>
                  <td className="right">{formatCount(run.traces.size)}</td>
                  <td className="right">{result === undefined ? '…' : formatPercent(passedFraction(result))}</td>
                  <td className="right">{average(result, averageRecall)}</td>
                  <td className="right">{average(result, rightAnswerFraction)}</td>
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

/** The two runs to compare: those in the URL, else the newest and the one before it. */
function selectRuns(runs: readonly TracedRun[], query: URLSearchParams) {
  const findRun = (id: string | null) => runs.find((run) => run.id === id)
  const after = findRun(query.get('after')) ?? runs[0]
  const afterIndex = runs.findIndex(({ id }) => id === after?.id)
  return { after, before: findRun(query.get('before')) ?? runs[afterIndex + 1] }
}

function SelectedRuns({
  runs,
  results,
  golden,
  spaceId,
}: {
  runs: readonly TracedRun[]
  results: RunResults
  golden: readonly GoldenQuestion[]
  spaceId: string
}) {
  const { query } = useRoute()
  const { before, after } = selectRuns(runs, query)
  const findResults = (run: TracedRun | undefined) => (run === undefined ? undefined : results[runs.indexOf(run)])
  const afterResults = findResults(after)
  if (after === undefined || afterResults === undefined) return <Skeleton />
  const missingCount = after.traces.size - afterResults.size
  return (
    <>
      {missingCount > 0 && (
        <Notice>
          {plural(missingCount, 'trace')} of this run no longer available: a document that it cites was deleted.
        </Notice>
      )}
      <Compare
        golden={golden}
        spaceId={spaceId}
        before={findResults(before)}
        after={afterResults}
        beforeRun={before}
        afterRun={after}
      />
    </>
  )
}
