import './research.css'
import { useState } from 'react'
import type { KnowledgeSpace } from '../../../contract/gateway/spaces.js'
import { useBoundedList } from '../../api/bounded-list.js'
import { useSpace } from '../../api/space.js'
import { pageHref, useRoute } from '../../router.js'
import { Button, classes, Link } from '../../ui/button.js'
import { formatCount } from '../../ui/format.js'
import { NoSpace } from '../../ui/no-space.js'
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
  const chosen = useSpace()
  const { space } = chosen
  if (space !== undefined) return <SpaceTasks key={space.id} space={space} />
  return (
    <>
      <PageHead title="Research" lead={LEAD} />
      <NoSpace selection={chosen} icon="research">
        Research reads the documents of a space.
      </NoSpace>
    </>
  )
}

function SpaceTasks({ space }: { space: KnowledgeSpace }) {
  const { rest } = useRoute()
  const [isNew, setNew] = useState(false)
  const tasks = useBoundedList(
    TASKS,
    (cursor) => ({
      query: { knowledgeSpaceId: space.id, limit: 100, ...(cursor === undefined ? {} : { cursor }) },
    }),
    {
      maxItems: MAX_TASKS,
      refetchInterval: (last) => (last?.items.some((task) => !isEnded(task.stage)) === true ? RUNNING_POLL_MS : false),
    },
  )
  const create = (
    <Button kind="primary" icon="plus" onClick={() => setNew(true)}>
      New task
    </Button>
  )
  const selectedId = rest[0]
  return (
    <>
      <PageHead title="Research" lead={LEAD} actions={(tasks.data?.items.length ?? 0) > 0 && create} />
      <Loaded query={tasks} lines={8}>
        {({ items, isTruncated }) =>
          items.length === 0 && selectedId === undefined ? (
            <Empty icon="research" title="No tasks yet">
              <p>
                A task compares, lists, and searches again for what is missing. It continues while you are away, and
                only you can see it.
              </p>
              {create}
            </Empty>
          ) : (
            <div className={classes('research', selectedId !== undefined && 'has-task')}>
              <nav className="research-list" aria-label="Research tasks">
                {items.map((task) => (
                  <TaskLink
                    key={task.id}
                    task={task}
                    space={space.slug}
                    isChosen={task.id === (selectedId ?? items[0]?.id)}
                  />
                ))}
                {isTruncated && <Notice>The newest {formatCount(MAX_TASKS)} are listed.</Notice>}
              </nav>
              <SelectedTask
                key={selectedId ?? items[0]?.id}
                id={selectedId ?? items[0]?.id}
                space={space}
                isAlone={selectedId !== undefined}
              />
            </div>
          )
        }
      </Loaded>
      {isNew && <NewTask space={space} onClose={() => setNew(false)} />}
    </>
  )
}

function TaskLink({ task, space, isChosen }: { task: Task; space: string; isChosen: boolean }) {
  const { label, tone } = STAGE_LABELS[task.stage]
  return (
    <Link
      className={classes('pick-item', isChosen && 'is-selected')}
      aria-current={isChosen || undefined}
      to={pageHref('research', [task.id], { space })}
    >
      <span className="pick-words">{task.query}</span>
      <span className="row small faint">
        <Badge tone={tone}>{label}</Badge>
        {task.cost.totalUsd > 0 && <span className="number">{formatUsd(task.cost.totalUsd)}</span>}
        <RelativeTime time={task.createdAt} />
      </span>
    </Link>
  )
}

function SelectedTask({ id, space, isAlone }: { id: string | undefined; space: KnowledgeSpace; isAlone: boolean }) {
  if (id === undefined) return null
  return (
    <div className="research-task">
      {isAlone && (
        <Link className="research-back small" to={pageHref('research', [], { space: space.slug })}>
          All tasks
        </Link>
      )}
      <TaskView id={id} space={space} />
    </div>
  )
}
