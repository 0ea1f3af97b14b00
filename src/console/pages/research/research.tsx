import './research.css'
import { useState } from 'react'
import type { KnowledgeSpace } from '../../../contract/gateway/spaces.js'
import { useEvery } from '../../api/every.js'
import { useSpace } from '../../api/space.js'
import { address, usePlace } from '../../router.js'
import { Ago } from '../../ui/ago.js'
import { Button, classes, Link } from '../../ui/button.js'
import { formatCount } from '../../ui/format.js'
import { NoSpace } from '../../ui/no-space.js'
import { PageHead } from '../../ui/parts.js'
import { Badge, Empty, Loaded, Notice } from '../../ui/state.js'
import { NewTask } from './new-task.js'
import { TaskView } from './task.js'
import { isEnded, money, STAGE, TASKS, type Task } from './words.js'

const LEAD = 'Complex questions: split into parts, researched part by part, and reported with sources.'
const MOST = 200
/** interval of reading the list while a task is running */
const BUSY_MS = 3_000

/** Page of the research tasks of a space: their questions, progress and reports. */
export function Research() {
  const chosen = useSpace()
  const { space } = chosen
  if (space !== undefined) return <OfSpace key={space.id} space={space} />
  return (
    <>
      <PageHead title="Research" lead={LEAD} />
      <NoSpace of={chosen} icon="research">
        Research reads the documents of a space.
      </NoSpace>
    </>
  )
}

function OfSpace({ space }: { space: KnowledgeSpace }) {
  const { rest } = usePlace()
  const [isNew, setNew] = useState(false)
  const tasks = useEvery(
    TASKS,
    (cursor) => ({
      query: { knowledgeSpaceId: space.id, limit: 100, ...(cursor === undefined ? {} : { cursor }) },
    }),
    { most: MOST, every: (last) => (last?.items.some((task) => !isEnded(task.stage)) === true ? BUSY_MS : false) },
  )
  const create = (
    <Button kind="primary" icon="plus" onClick={() => setNew(true)}>
      New task
    </Button>
  )
  const chosen = rest[0]
  return (
    <>
      <PageHead title="Research" lead={LEAD} actions={(tasks.data?.items.length ?? 0) > 0 && create} />
      <Loaded of={tasks} lines={8}>
        {({ items, isCut }) =>
          items.length === 0 && chosen === undefined ? (
            <Empty icon="research" title="No tasks yet">
              <p>
                A task compares, lists, and searches again for what is missing. It continues while you are away, and only
                you can see it.
              </p>
              {create}
            </Empty>
          ) : (
            <div className={classes('research', chosen !== undefined && 'has-task')}>
              <nav className="research-list" aria-label="Research tasks">
                {items.map((task) => (
                  <TaskLink
                    key={task.id}
                    task={task}
                    space={space.slug}
                    isChosen={task.id === (chosen ?? items[0]?.id)}
                  />
                ))}
                {isCut && <Notice>The newest {formatCount(MOST)} are listed.</Notice>}
              </nav>
              <TaskOf
                key={chosen ?? items[0]?.id}
                id={chosen ?? items[0]?.id}
                space={space}
                isAlone={chosen !== undefined}
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
  const { said, tone } = STAGE[task.stage]
  return (
    <Link
      className={classes('pick-item', isChosen && 'is-selected')}
      aria-current={isChosen || undefined}
      to={address('research', [task.id], { space })}
    >
      <span className="pick-words">{task.query}</span>
      <span className="row small faint">
        <Badge tone={tone}>{said}</Badge>
        {task.cost.totalUsd > 0 && <span className="number">{money(task.cost.totalUsd)}</span>}
        <Ago time={task.createdAt} />
      </span>
    </Link>
  )
}

function TaskOf({ id, space, isAlone }: { id: string | undefined; space: KnowledgeSpace; isAlone: boolean }) {
  if (id === undefined) return null
  return (
    <div className="research-task">
      {isAlone && (
        <Link className="research-back small" to={address('research', [], { space: space.slug })}>
          All tasks
        </Link>
      )}
      <TaskView id={id} space={space} />
    </div>
  )
}
