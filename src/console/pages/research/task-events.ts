import { useEffect, useState } from 'react'
import type { ResearchEventData, ResearchStage } from '../../../contract/gateway/research.js'
import { openResponse, RequestError } from '../../api/client.js'
import { readEvents } from '../../api/events.js'
import { useInvalidate } from '../../api/use.js'

/** Number of events after which the stream ends; it is opened again from the last event. */
const MAX_EVENTS = 100
const RECONNECT_DELAY_MS = 2_000

export interface TaskEvents {
  stages: readonly { stage: ResearchStage; startedAt: string }[]
  searches: readonly ResearchEventData<'research.partial'>[]
  costs: readonly ResearchEventData<'research.cost'>[]
}

const NO_EVENTS: TaskEvents = { stages: [], searches: [], costs: [] }
const FINAL_EVENTS: readonly (string | undefined)[] = ['research.completed', 'research.failed', 'research.canceled']

/** Follows the events of a task: stored ones first, then new ones, reconnecting until the task ends. */
export function useTaskEvents(id: string): TaskEvents {
  const [events, setEvents] = useState(NO_EVENTS)
  const invalidate = useInvalidate()
  // biome-ignore lint/correctness/useExhaustiveDependencies: one subscription per task
  useEffect(() => {
    const controller = new AbortController()
    const { signal } = controller
    setEvents(NO_EVENTS)
    const follow = async () => {
      let cursor: string | undefined
      while (!signal.aborted) {
        try {
          const query = { limit: MAX_EVENTS, ...(cursor === undefined ? {} : { cursor }) }
          const response = await openResponse('GET /research-tasks/{id}/events', { path: { id }, query }, { signal })
          for await (const { id: eventId, event, data } of readEvents(response)) {
            cursor = eventId ?? cursor
            setEvents((previous) => addEvent(previous, event, data))
            if (event === 'research.stage' || FINAL_EVENTS.includes(event))
              void invalidate('GET /research-tasks/{id}', 'GET /research-tasks', 'GET /research-tasks/{id}/partials')
            if (FINAL_EVENTS.includes(event)) return
          }
        } catch (error) {
          if (error instanceof RequestError && error.status < 500 && error.status !== 429) return
        }
        // the daemon has stopped, or the stream has ended after `MAX_EVENTS`
        await new Promise((resolve) => setTimeout(resolve, RECONNECT_DELAY_MS))
      }
    }
    void follow()
    return () => controller.abort()
  }, [id])
  return events
}

/** @param data JSON; the contract gives its type for each event */
function addEvent(previous: TaskEvents, event: string | undefined, data: string): TaskEvents {
  if (event === 'research.stage') {
    const { stage, at: startedAt }: ResearchEventData<'research.stage'> = JSON.parse(data)
    return { ...previous, stages: [...previous.stages, { stage, startedAt }] }
  }
  if (event === 'research.partial') return { ...previous, searches: [...previous.searches, JSON.parse(data)] }
  if (event === 'research.cost') return { ...previous, costs: [...previous.costs, JSON.parse(data)] }
  return previous
}
