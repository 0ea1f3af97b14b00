import { useQueries, useQueryClient } from '@tanstack/react-query'
import { lazy, Suspense, useMemo } from 'react'
import type { GoldenQuestion } from '../../../contract/gateway/golden-questions.js'
import { useEvery } from '../../api/every.js'
import { setQuery, usePlace } from '../../router.js'
import { Button } from '../../ui/button.js'
import { formatAgo, formatCount, formatMoment, plural } from '../../ui/format.js'
import { Empty, Failure, Loaded, Notice, Skeleton } from '../../ui/state.js'
import { Compare } from './compare.js'
import type { Measured } from './expected.js'
import { useGolden } from './golden.js'
import { RunNow } from './run-now.js'
import { measuredRun, type Run, recallOf, rightAnswersOf, runsOf, shareOf } from './runs.js'

const Plot = lazy(() => import('./plot.js').then(({ Plot }) => ({ default: Plot })))

export const TRACES = 'GET /knowledge-spaces/{id}/quality/traces'
/** Own traces that are searched for runs, at most. */
const MOST_TRACES = 3000
/** Runs that are evaluated at most; each reads one trace per question. */
const MOST_RUNS = 20

/** Tab of golden runs: their results over time, and a comparison of two runs. */
export function Runs({ spaceId }: { spaceId: string }) {
  const golden = useGolden(spaceId)
  return (
    <Loaded of={golden} lines={8}>
      {({ items }) =>
        items.length === 0 ? (
          <Empty icon="quality" title="No golden questions yet">
            <p>A run asks each golden question and compares passages and answer with the expected ones.</p>
            <Button kind="primary" onClick={() => setQuery({ tab: 'golden' })}>
              Golden questions
            </Button>
          </Empty>
        ) : (
          <OfQuestions spaceId={spaceId} golden={items} />
        )
      }
    </Loaded>
  )
}

interface OfQuestionsProps {
  spaceId: string
  golden: readonly GoldenQuestion[]
}

function OfQuestions({ spaceId, golden }: OfQuestionsProps) {
  const traces = useEvery(
    TRACES,
    (cursor) => ({ path: { id: spaceId }, query: { limit: 100, ...(cursor === undefined ? {} : { cursor }) } }),
    { most: MOST_TRACES },
  )
  const runs = useMemo(() => runsOf(traces.data?.items ?? [], golden).slice(0, MOST_RUNS), [traces.data, golden])
  const client = useQueryClient()
  const measured = useQueries({
    queries: runs.map((run) => measuredRun(client, run, golden)),
    combine: (results) => ({
      of: results.map(({ data }) => data),
      error: results.find(({ error }) => error !== null)?.error,
    }),
  })
  return (
    <div className="stack">
      <RunNow spaceId={spaceId} golden={golden} />
      {traces.isError ? (
        <Failure error={traces.error} retry={() => void traces.refetch()} />
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
          {measured.error !== undefined && <Failure error={measured.error} />}
          <Overview runs={runs} measured={measured.of} />
          <p className="small faint">
            Read from your own traces: golden questions asked one after the other, each once, in one mode.
            {traces.data.isCut && ` The newest ${formatCount(MOST_TRACES)} traces are searched.`}
          </p>
          <Chosen runs={runs} measured={measured.of} golden={golden} spaceId={spaceId} />
        </>
      )}
    </div>
  )
}

type MeasuredRuns = readonly (ReadonlyMap<string, Measured> | undefined)[]

function Overview({ runs, measured }: { runs: readonly Run[]; measured: MeasuredRuns }) {
  const points = useMemo(
    () =>
      runs
        .map(({ id, startedAt }, at) => {
          const of = measured[at]
          return { id, startedAt, passed: of && shareOf(of), recall: of && recallOf(of) }
        })
        .reverse(),
    [runs, measured],
  )
  const { query } = usePlace()
  const { before, after } = chosenOf(runs, query)
  const percent = (share: number | undefined) => (share === undefined ? '…' : `${Math.round(share * 100)} %`)
  const average = (of: MeasuredRuns[number], share: typeof recallOf) =>
    of === undefined ? '…' : of.size > 0 && share(of) === undefined ? '–' : percent(share(of))
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
            {runs.map((run, at) => {
              const of = measured[at]
              return (
                <tr key={run.id}>
                  <td title={formatMoment(run.startedAt)}>{formatAgo(run.startedAt)}</td>
                  <td>{run.mode}</td>
                  <td className="right">{formatCount(run.asked.size)}</td>
                  <td className="right">{of === undefined ? '…' : percent(shareOf(of))}</td>
                  <td className="right">{average(of, recallOf)}</td>
                  <td className="right">{average(of, rightAnswersOf)}</td>
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
function chosenOf(runs: readonly Run[], query: URLSearchParams) {
  const byId = (id: string | null) => runs.find((run) => run.id === id)
  const after = byId(query.get('after')) ?? runs[0]
  const at = runs.findIndex(({ id }) => id === after?.id)
  return { after, before: byId(query.get('before')) ?? runs[at + 1] }
}

function Chosen({
  runs,
  measured,
  golden,
  spaceId,
}: {
  runs: readonly Run[]
  measured: MeasuredRuns
  golden: readonly GoldenQuestion[]
  spaceId: string
}) {
  const { query } = usePlace()
  const { before, after } = chosenOf(runs, query)
  const of = (run: Run | undefined) => (run === undefined ? undefined : measured[runs.indexOf(run)])
  const is = of(after)
  if (after === undefined || is === undefined) return <Skeleton />
  const gone = after.asked.size - is.size
  return (
    <>
      {gone > 0 && (
        <Notice>
          {plural(gone, 'trace')} of this run no longer available: a document that it cites was deleted.
        </Notice>
      )}
      <Compare golden={golden} spaceId={spaceId} before={of(before)} after={is} beforeRun={before} afterRun={after} />
    </>
  )
}
