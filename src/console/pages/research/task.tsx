import { useState } from 'react'
import type { KnowledgeSpace } from '../../../contract/gateway/spaces.js'
import { useRead, useWrite } from '../../api/use.js'
import { Ago } from '../../ui/ago.js'
import { Button, classes } from '../../ui/button.js'
import { formatMs, plural } from '../../ui/format.js'
import { Facts, Panel } from '../../ui/parts.js'
import { Badge, Loaded, Notice } from '../../ui/state.js'
import { say } from '../../ui/toast.js'
import { type Followed, useFollowed } from './follow.js'
import { NewTask } from './new-task.js'
import { Report } from './report.js'
import { isEnded, money, STAGE, STATE, TASKS, type Task, WORK } from './words.js'

const BUSY_MS = 2_000

/** A task: its progress, cost and report. */
export function TaskView({ id, space }: { id: string; space: KnowledgeSpace }) {
  const task = useRead(
    'GET /research-tasks/{id}',
    { path: { id } },
    { every: (last) => (last !== undefined && !isEnded(last.stage) ? BUSY_MS : false) },
  )
  return <Loaded of={task}>{(loaded) => <Shown task={loaded} space={space} />}</Loaded>
}

function Shown({ task, space }: { task: Task; space: KnowledgeSpace }) {
  const followed = useFollowed(task.id)
  const [isAgain, setAgain] = useState(false)
  const cancel = useWrite('DELETE /research-tasks/{id}', ['GET /research-tasks/{id}', TASKS])
  const { said, tone } = STAGE[task.stage]
  const ended = isEnded(task.stage)
  return (
    <article className="stack">
      <Panel>
        <div className="stack">
          <div className="research-head">
            <Question text={task.query} />
            {ended ? (
              <Button small icon="refresh" onClick={() => setAgain(true)}>
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
                      onSuccess: () => say('Canceled; the results so far are kept.'),
                      onError: (error) => say(error.message, 'bad'),
                    },
                  )
                }
              >
                Cancel
              </Button>
            )}
          </div>
          <p className="row small muted" role="status">
            <Badge tone={tone}>{said}</Badge>
            <span>
              {!ended && 'started '}
              <Ago time={ended ? (task.completedAt ?? task.updatedAt) : task.createdAt} />
            </span>
            <span className="number">{plural(followed.looks.length, 'search', 'searches')}</span>
            <span className="number">{costOf(task)}</span>
          </p>
          <Steps task={task} followed={followed} />
          {task.error !== undefined && <Notice tone="bad">{task.error}</Notice>}
          {task.cost.budgetExceeded === true && (
            <Notice tone="warn">Its budget was spent: the rest was written without the model.</Notice>
          )}
          {!ended && (
            <p className="small faint">
              It continues when this page is closed. After a stop of the daemon it resumes after its last step.
            </p>
          )}
          <Details task={task} followed={followed} />
        </div>
      </Panel>
      {task.stage === 'completed' && <Report id={task.id} />}
      {isAgain && <NewTask space={space} like={task} onClose={() => setAgain(false)} />}
    </article>
  )
}

/** Length in characters above which a question is folded. */
const LONG = 280

/** The question as a heading; a very long one is folded so that the result is in view. */
function Question({ text }: { text: string }) {
  const [isWhole, setWhole] = useState(text.length <= LONG)
  return (
    <div className="research-query">
      <h2 className={classes('wrap', !isWhole && 'is-folded')}>{text}</h2>
      {text.length > LONG && (
        <Button small kind="quiet" onClick={() => setWhole(!isWhole)}>
          {isWhole ? 'Less' : 'Full question'}
        </Button>
      )}
    </div>
  )
}

function costOf({ cost, budgetUsd }: Task): string {
  const spent = cost.totalUsd === 0 ? 'cost nothing' : `cost ${money(cost.totalUsd)}`
  return budgetUsd === undefined ? spent : `${spent} of ${money(budgetUsd)}`
}

/** The stages with their durations. */
function Steps({ task, followed }: { task: Task; followed: Followed }) {
  const began = new Map(followed.stages.map(({ stage, at }) => [stage, Date.parse(at)]))
  const last = followed.stages.filter(({ stage }) => WORK.includes(stage)).at(-1)
  const reached = isEnded(task.stage) && task.stage !== 'completed' ? last?.stage : task.stage
  const now = reached === undefined ? -1 : WORK.indexOf(reached)
  return (
    <ol className="research-steps">
      {WORK.map((stage, at) => {
        const start = began.get(stage)
        const end = WORK.slice(at + 1).flatMap(
          (next) => began.get(next) ?? (next === 'completed' ? (task.completedAt ?? []) : []),
        )[0]
        const isNow = at === now && !isEnded(task.stage)
        return (
          <li
            key={stage}
            className={classes('research-step', at <= now && 'is-reached', isNow && 'is-now')}
            aria-current={isNow ? 'step' : undefined}
          >
            <span>{STAGE[stage].said}</span>
            <span className="faint number">
              {start !== undefined && end !== undefined ? formatMs(end - start) : isNow ? '…' : ''}
            </span>
          </li>
        )
      })}
    </ol>
  )
}

function Details({ task, followed }: { task: Task; followed: Followed }) {
  const { looks } = followed
  return (
    <details>
      <summary className="small">Searches, costs and limits</summary>
      <div className="stack research-details">
        {looks.length > 0 && (
          <ol className="research-looks small">
            {looks.map(({ sequence, state, itemCount }) => (
              <li key={sequence} className="row">
                <span className="number faint">Search {sequence}</span>
                <Badge tone={STATE[state].tone}>{STATE[state].said}</Badge>
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
                    <td className="right">{money(costUsd)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
        <Facts
          of={[
            ['Id', <code key="id">{task.id}</code>],
            ['Budget', task.budgetUsd === undefined ? 'none' : money(task.budgetUsd)],
            ['Time', formatMs(task.limits?.timeoutMs ?? 600_000)],
          ]}
        />
      </div>
    </details>
  )
}
