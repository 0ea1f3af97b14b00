import { useEffect, useState } from 'react'
import type { ResearchEventData, ResearchStage } from '../../../contract/gateway/research.js'
import { ApiError, open } from '../../api/client.js'
import { eventsOf } from '../../api/events.js'
import { useForget } from '../../api/use.js'

const EVENTS = 100
const AGAIN_MS = 2_000

export interface Followed {
  /** start time of each stage */
  stages: readonly { stage: ResearchStage; at: string }[]
  looks: readonly ResearchEventData<'research.partial'>[]
  costs: readonly ResearchEventData<'research.cost'>[]
}

const NOTHING: Followed = { stages: [], looks: [], costs: [] }
const LAST: readonly (string | undefined)[] = ['research.completed', 'research.failed', 'research.canceled']

/** Follows the events of a task: stored ones first, then new ones, reconnecting until the task ends. */
export function useFollowed(id: string): Followed {
  const [followed, setFollowed] = useState(NOTHING)
  const forget = useForget()
  // biome-ignore lint/correctness/useExhaustiveDependencies: one subscription per task
  useEffect(() => {
    const controller = new AbortController()
    const { signal } = controller
    setFollowed(NOTHING)
    const follow = async () => {
      let cursor: string | undefined
      while (!signal.aborted) {
        try {
          const query = { limit: EVENTS, ...(cursor === undefined ? {} : { cursor }) }
          const response = await open('GET /research-tasks/{id}/events', { path: { id }, query }, { signal })
          for await (const { id: at, event, data } of eventsOf(response)) {
            cursor = at ?? cursor
            setFollowed((before) => withEvent(before, event, data))
            if (event === 'research.stage' || LAST.includes(event))
              void forget('GET /research-tasks/{id}', 'GET /research-tasks', 'GET /research-tasks/{id}/partials')
            if (LAST.includes(event)) return
          }
        } catch (error) {
          if (error instanceof ApiError && error.status < 500 && error.status !== 429) return
        }
        // the daemon was stopped, or the stream ended after `MAX_EVENTS`
        await new Promise((resolve) => setTimeout(resolve, AGAIN_MS))
      }
    }
    void follow()
    return () => controller.abort()
  }, [id])
  return followed
}

/** The contract gives the type of a frame. */
function withEvent(before: Followed, event: string | undefined, data: string): Followed {
  if (event === 'research.stage') {
    const { stage, at }: ResearchEventData<'research.stage'> = JSON.parse(data)
    return { ...before, stages: [...before.stages, { stage, at }] }
  }
  if (event === 'research.partial') return { ...before, looks: [...before.looks, JSON.parse(data)] }
  if (event === 'research.cost') return { ...before, costs: [...before.costs, JSON.parse(data)] }
  return before
}
