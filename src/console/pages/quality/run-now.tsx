import { useEffect, useState } from 'react'
import type { GoldenRun } from '../../../contract/gateway/golden-runs.js'
import { useInvalidate, useRead, useWrite } from '../../api/use.js'
import { Button } from '../../ui/button.js'
import { formatCount } from '../../ui/format.js'
import { ErrorNotice } from '../../ui/state.js'
import { showToast } from '../../ui/toast.js'
import { RUNS } from './runs.js'

type RunMode = 'fast' | 'deep' | 'research'

interface RunControlProps {
  spaceId: string
  /** number of golden questions; undefined if there are more than the page reads */
  questionCount: number | undefined
  runs: readonly GoldenRun[]
}

/** Starts and stops a run of all golden questions. */
export function RunControl({ spaceId, questionCount, runs }: RunControlProps) {
  const [mode, setMode] = useState<RunMode | ''>('')
  const invalidate = useInvalidate()
  const profile = useRead('GET /knowledge-spaces/{id}/retrieval-profile', { path: { id: spaceId } })
  const start = useWrite('POST /knowledge-spaces/{id}/golden-runs', [RUNS])
  const stop = useWrite('DELETE /knowledge-spaces/{id}/golden-runs/{runId}', [RUNS])
  const running = runs.find(({ status }) => status === 'running')
  const started = runs.find(({ id }) => id === start.data?.id)
  /** undefined until the run that was started here has ended */
  const summary =
    started?.status === 'completed'
      ? `${formatCount(started.done)} of ${formatCount(started.questions)} questions asked.`
      : started?.error
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when the run has ended
  useEffect(() => {
    if (summary === undefined) return
    showToast(summary)
    void invalidate('GET /knowledge-spaces/{id}/failed-queries', 'GET /knowledge-spaces/{id}/failed-queries/metrics')
  }, [summary])
  const error = start.error ?? stop.error
  return (
    <div className="stack">
      <div className="row">
        <label className="row small">
          <span className="muted">Mode</span>
          <select
            className="select"
            disabled={running !== undefined}
            value={mode}
            onChange={({ target: { value } }) =>
              setMode(value === 'fast' || value === 'deep' || value === 'research' ? value : '')
            }
          >
            <option value="">space default{profile.data === undefined ? '' : ` (${profile.data.defaultMode})`}</option>
            <option value="fast">fast</option>
            <option value="deep">deep</option>
            <option value="research">research</option>
          </select>
        </label>
        {running === undefined ? (
          <Button
            kind="primary"
            icon="play"
            onClick={() => start.mutate({ path: { id: spaceId }, body: mode === '' ? {} : { mode } })}
          >
            Run {questionCount === undefined ? 'all' : formatCount(questionCount)} golden questions
          </Button>
        ) : (
          <Button icon="stop" onClick={() => stop.mutate({ path: { id: spaceId, runId: running.id } })}>
            Stop after {formatCount(running.done)} of {formatCount(running.questions)}
          </Button>
        )}
      </div>
      {running !== undefined && (
        <div
          className="meter"
          role="progressbar"
          aria-label="Golden run"
          aria-valuenow={running.done}
          aria-valuemin={0}
          aria-valuemax={running.questions}
        >
          <div className="meter-fill" style={{ width: `${(running.done / running.questions) * 100}%` }} />
        </div>
      )}
      {error !== null && <ErrorNotice error={error} />}
    </div>
  )
}
