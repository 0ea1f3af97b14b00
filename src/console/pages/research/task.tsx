import { useState } from 'react'
import type { KnowledgeSpace } from '../../../contract/gateway/spaces.js'
import { useRead, useWrite } from '../../api/use.js'
import { Button, classes } from '../../ui/button.js'
import { formatMs, plural } from '../../ui/format.js'
import { Facts, Panel } from '../../ui/parts.js'
import { RelativeTime } from '../../ui/relative-time.js'
import { Badge, Loaded, Notice } from '../../ui/state.js'
import { showError, showToast } from '../../ui/toast.js'
import { formatUsd, isEnded, STAGE_LABELS, STAGE_ORDER, STATE_LABELS, TASKS, type Task } from './labels.js'
import { NewTask } from './new-task.js'
import { Report } from './report.js'
import { type TaskEvents, useTaskEvents } from './task-events.js'

const RUNNING_POLL_MS = 2_000
/** Time limit of a task without one. */
const DEFAULT_TIMEOUT_MS = 600_000

/** A task: its progress, cost and report. */
export function TaskView({ id, space }: { id: string; space: KnowledgeSpace }) {
  const task = useRead(
    'GET /research-tasks/{id}',
    { path: { id } },
    { refetchInterval: (last) => (last !== undefined && !isEnded(last.stage) ? RUNNING_POLL_MS : false) },
  )
  return <Loaded query={task}>{(data) => <LoadedTask task={data} space={space} />}</Loaded>
}

function LoadedTask({ task, space }: { task: Task; space: KnowledgeSpace }) {
  const events = useTaskEvents(task.id)
  const [isRestarting, setRestarting] = useState(false)
  const cancel = useWrite('DELETE /research-tasks/{id}', ['GET /research-tasks/{id}', TASKS])
  const { label, tone } = STAGE_LABELS[task.stage]
  const hasEnded = isEnded(task.stage)
  return (
    <article className="stack">
      <Panel>
        <div className="stack">
          <div className="research-head">
            <FoldableQuestion text={task.query} />
            {hasEnded ? (
              <Button small icon="refresh" onClick={() => setRestarting(true)}>
                Start again
              </Button>
            ) : (
              <Button
                small
                kind="danger"
                icon="stop"
                busy={cancel.isPending}
                onClick={() =>
                  cancel.mutate(
                    { path: { id: task.id } },
                    {
                      onSuccess: () => showToast('Canceled; the results so far are kept.'),
                      onError: showError,
                    },
                  )
                }
              >
                Cancel
              </Button>
            )}
          </div>
          <p className="row small muted" role="status">
            <Badge tone={tone}>{label}</Badge>
            <span>
              {!hasEnded && 'started '}
              <RelativeTime time={hasEnded ? (task.completedAt ?? task.updatedAt) : task.createdAt} />
            </span>
            <span className="number">{plural(events.searches.length, 'search', 'searches')}</span>
            <span className="number">{formatCost(task)}</span>
          </p>
          <StageList task={task} events={events} />
          {task.error !== undefined && <Notice tone="bad">{task.error}</Notice>}
          {task.cost.budgetExceeded === true && (
            <Notice tone="warn">Its budget was spent: the rest was written without the model.</Notice>
          )}
          {!hasEnded && (
            <p className="small faint">
              It continues when this page is closed. After a stop of the daemon it resumes after its last step.
            </p>
          )}
          <TaskDetails task={task} events={events} />
        </div>
      </Panel>
      {task.stage === 'completed' && <Report id={task.id} />}
      {isRestarting && <NewTask space={space} template={task} onClose={() => setRestarting(false)} />}
    </article>
  )
}

/** Length in characters above which a question is folded. */
const MAX_QUESTION_CHARS = 280

/** The question as a heading; a very long one is folded so that the result is in view. */
function FoldableQuestion({ text }: { text: string }) {
  const isLong = text.length > MAX_QUESTION_CHARS
  const [isFolded, setFolded] = useState(isLong)
  return (
    <div className="research-query">
      <h2 className={classes('wrap', isFolded && 'is-folded')}>{text}</h2>
      {isLong && (
        <Button small kind="quiet" onClick={() => setFolded(!isFolded)}>
          {isFolded ? 'Full question' : 'Less'}
        </Button>
      )}
    </div>
  )
}

function formatCost({ cost, budgetUsd }: Task): string {
  const spent = cost.totalUsd === 0 ? 'cost nothing' : `cost ${formatUsd(cost.totalUsd)}`
  return budgetUsd === undefined ? spent : `${spent} of ${formatUsd(budgetUsd)}`
}

/** The stages with their durations. */
function StageList({ task, events }: { task: Task; events: TaskEvents }) {
  const startTimes = new Map(events.stages.map(({ stage, startedAt }) => [stage, Date.parse(startedAt)]))
  const lastStarted = events.stages.findLast(({ stage }) => STAGE_ORDER.includes(stage))?.stage
  const reached = isEnded(task.stage) && task.stage !== 'completed' ? lastStarted : task.stage
  const reachedIndex = reached === undefined ? -1 : STAGE_ORDER.indexOf(reached)
  return (
    <ol className="research-steps">
      {STAGE_ORDER.map((stage, index) => {
        const start = startTimes.get(stage)
        const [end] = STAGE_ORDER.slice(index + 1).flatMap(
          (next) => startTimes.get(next) ?? (next === 'completed' ? (task.completedAt ?? []) : []),
        )
        const isCurrent = index === reachedIndex && !isEnded(task.stage)
        return (
          <li
            key={stage}
            className={classes('research-step', index <= reachedIndex && 'is-reached', isCurrent && 'is-current')}
            aria-current={isCurrent ? 'step' : undefined}
          >
            <span>{STAGE_LABELS[stage].label}</span>
            <span className="faint number">
              {start !== undefined && end !== undefined ? formatMs(end - start) : isCurrent ? '…' : ''}
            </span>
          </li>
        )
      })}
    </ol>
  )
}

function TaskDetails({ task, events }: { task: Task; events: TaskEvents }) {
  const { searches } = events
  return (
    <details>
      <summary className="small">Searches, costs and limits</summary>
      <div className="stack research-details">
        {searches.length > 0 && (
          <ol className="research-searches small">
            {searches.map(({ sequence, state, itemCount }) => (
              <li key={sequence} className="row">
                <span className="number faint">Search {sequence}</span>
                <Badge tone={STATE_LABELS[state].tone}>{STATE_LABELS[state].label}</Badge>
                <span>{plural(itemCount, 'passage')}</span>
              </li>
            ))}
          </ol>
        )}
        {task.cost.entries.length > 0 && (
          <div className="table-frame">
            <table className="table">
              <thead>
                <tr>
                  <th>Step</th>
                  <th>Provider</th>
                  <th className="right">Cost</th>
                </tr>
              </thead>
              <tbody>
                {task.cost.entries.map(({ step, provider, costUsd, recordedAt }) => (
                  <tr key={`${step} ${recordedAt}`}>
                    <td>{step}</td>
                    <td>{provider}</td>
                    <td className="right">{formatUsd(costUsd)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
        <Facts
          entries={[
            ['Id', <code key="id">{task.id}</code>],
            ['Budget', task.budgetUsd === undefined ? 'none' : formatUsd(task.budgetUsd)],
            ['Time', formatMs(task.limits?.timeoutMs ?? DEFAULT_TIMEOUT_MS)],
          ]}
        />
      </div>
    </details>
  )
}
