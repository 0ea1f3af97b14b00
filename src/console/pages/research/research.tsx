import './research.css'
import { useState } from 'react'
import type { KnowledgeSpace } from '../../../contract/gateway/spaces.js'
import { useBoundedList } from '../../api/bounded-list.js'
import { useSpace } from '../../api/space.js'
import { pageHref, useRoute } from '../../router.js'
import { Button, classes, Link } from '../../ui/button.js'
import { formatCount } from '../../ui/format.js'
import { NoSpacePage } from '../../ui/no-space.js'
import { PageHead } from '../../ui/parts.js'
import { RelativeTime } from '../../ui/relative-time.js'
import { Badge, Empty, Loaded, Notice } from '../../ui/state.js'
import { formatUsd, isEnded, STAGE_LABELS, TASKS, type Task } from './labels.js'
import { NewTask } from './new-task.js'
import { TaskView } from './task.js'

const LEAD = 'Complex questions: split into parts, researched part by part, and reported with sources.'
const MAX_TASKS = 200
/** interval of reading the list while a task is running */
const RUNNING_POLL_MS = 3_000

/** Page of the research tasks of a space: their questions, progress and reports. */
export function Research() {
  const selection = useSpace()
  const { space } = selection
  if (space !== undefined) return <SpaceTasks key={space.id} space={space} />
  return (
    <NoSpacePage title="Research" lead={LEAD} selection={selection} icon="research">
      Research reads the documents of a space.
    </NoSpacePage>
  )
}

function SpaceTasks({ space }: { space: KnowledgeSpace }) {
  const { rest } = useRoute()
  const [isNew, setNew] = useState(false)
  const tasks = useBoundedList(
    TASKS,
    (position) => ({ query: { knowledgeSpaceId: space.id, limit: 100, ...position } }),
    {
      maxItems: MAX_TASKS,
      refetchInterval: (last) => (last?.items.some((task) => !isEnded(task.stage)) === true ? RUNNING_POLL_MS : false),
    },
  )
  const newButton = (
    <Button kind="primary" icon="plus" onClick={() => setNew(true)}>
      New task
    </Button>
  )
  const [idInUrl] = rest
  const selectedId = idInUrl ?? tasks.data?.items[0]?.id
  return (
    <>
      <PageHead title="Research" lead={LEAD} actions={(tasks.data?.items.length ?? 0) > 0 && newButton} />
      <Loaded query={tasks} lines={8}>
        {({ items, isTruncated }) =>
          selectedId === undefined ? (
            <Empty icon="research" title="No tasks yet">
              <p>
                A task compares, lists, and searches again for what is missing. It continues while you are away, and
                only you can see it.
              </p>
              {newButton}
            </Empty>
          ) : (
            <div className={classes('research', idInUrl !== undefined && 'has-task')}>
              <nav className="research-list" aria-label="Research tasks">
                {items.map((task) => (
                  <TaskLink key={task.id} task={task} slug={space.slug} isSelected={task.id === selectedId} />
                ))}
                {isTruncated && <Notice>The newest {formatCount(MAX_TASKS)} are listed.</Notice>}
              </nav>
              <div key={selectedId} className="research-task">
                {idInUrl !== undefined && (
                  <Link className="research-back small" to={pageHref('research', [], { space: space.slug })}>
                    All tasks
                  </Link>
                )}
                <TaskView id={selectedId} space={space} />
              </div>
            </div>
          )
        }
      </Loaded>
      {isNew && <NewTask space={space} onClose={() => setNew(false)} />}
    </>
  )
}

function TaskLink({ task, slug, isSelected }: { task: Task; slug: string; isSelected: boolean }) {
  const { label, tone } = STAGE_LABELS[task.stage]
  return (
    <Link
      className={classes('pick-item', isSelected && 'is-selected')}
      aria-current={isSelected || undefined}
      to={pageHref('research', [task.id], { space: slug })}
    >
      <span className="pick-text">{task.query}</span>
      <span className="row small faint">
        <Badge tone={tone}>{label}</Badge>
        {task.cost.totalUsd > 0 && <span className="number">{formatUsd(task.cost.totalUsd)}</span>}
        <RelativeTime time={task.createdAt} />
      </span>
    </Link>
  )
}
