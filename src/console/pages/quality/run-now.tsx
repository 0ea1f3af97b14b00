import pLimit from 'p-limit'
import { useEffect, useRef, useState } from 'react'
import type { GoldenQuestion } from '../../../contract/gateway/golden-questions.js'
import { messageOf, open } from '../../api/client.js'
import { useInvalidate, useRead } from '../../api/use.js'
import { Button } from '../../ui/button.js'
import { formatCount } from '../../ui/format.js'
import { Notice } from '../../ui/state.js'
import { showToast } from '../../ui/toast.js'

/** One at a time: runs are recognized by the order of their questions. */
const MAX_CONCURRENT_QUERIES = 1
type RunMode = 'fast' | 'deep' | 'research'

interface RunProgress {
  done: number
  failed: number
  /** cause of the last failure */
  reason: string | undefined
}

/** Asks every golden question; the results are in the traces. */
export function RunControl({ spaceId, golden }: { spaceId: string; golden: readonly GoldenQuestion[] }) {
  const [mode, setMode] = useState<RunMode | ''>('')
  const [progress, setProgress] = useState<RunProgress>()
  const running = useRef<AbortController>(undefined)
  const invalidate = useInvalidate()
  const profile = useRead('GET /knowledge-spaces/{id}/retrieval-profile', { path: { id: spaceId } })
  useEffect(() => () => running.current?.abort(), [])

  const run = async () => {
    const controller = new AbortController()
    running.current = controller
    const { signal } = controller
    const current: RunProgress = { done: 0, failed: 0, reason: undefined }
    setProgress({ ...current })
    const limitQueries = pLimit(MAX_CONCURRENT_QUERIES)
    const ask = async ({ question }: GoldenQuestion) => {
      if (signal.aborted) return
      try {
        const body = { knowledgeSpaceId: spaceId, query: question, ...(mode === '' ? {} : { mode }) }
        const stream = await (await open('POST /queries', { body }, { signal })).text()
        if (stream.includes('event: answer.error')) throw new Error('an answer ended with an error')
      } catch (error) {
        if (signal.aborted) return
        current.failed++
        current.reason = messageOf(error)
      }
      current.done++
      setProgress({ ...current })
    }
    await Promise.all(golden.map((question) => limitQueries(() => ask(question))))
    if (!signal.aborted)
      showToast(`${formatCount(current.done - current.failed)} of ${formatCount(golden.length)} questions asked.`)
    running.current = undefined
    if (current.failed === 0 || signal.aborted) setProgress(undefined)
    await invalidate(
      'GET /knowledge-spaces/{id}/quality/traces',
      'GET /knowledge-spaces/{id}/failed-queries',
      'GET /knowledge-spaces/{id}/failed-queries/metrics',
    )
  }

  const isRunning = running.current !== undefined && progress !== undefined && progress.done < golden.length
  return (
    <div className="stack">
      <div className="row">
        <label className="row small">
          <span className="muted">Mode</span>
          <select
            className="select"
            disabled={isRunning}
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
        {isRunning ? (
          <Button icon="stop" onClick={() => running.current?.abort()}>
            Stop after {formatCount(progress.done)} of {formatCount(golden.length)}
          </Button>
        ) : (
          <Button kind="primary" icon="play" onClick={() => void run()}>
            Run {formatCount(golden.length)} golden questions
          </Button>
        )}
      </div>
      {isRunning && (
        <div
          className="meter"
          role="progressbar"
          aria-label="Golden run"
          aria-valuenow={progress.done}
          aria-valuemin={0}
          aria-valuemax={golden.length}
        >
          <div className="meter-fill" style={{ width: `${(progress.done / golden.length) * 100}%` }} />
        </div>
      )}
      {progress !== undefined && progress.failed > 0 && (
        <Notice tone="bad">
          {formatCount(progress.failed)} of {formatCount(golden.length)} could not be asked: {progress.reason}
        </Notice>
      )}
    </div>
  )
}
