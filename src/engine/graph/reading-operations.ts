import type { GraphReading, StartGraphReadingBody } from '../../contract/gateway/graph-readings.js'
import type { Caller } from '../base/caller.js'
import type { EngineContext } from '../context.js'
import { beginReading, endReading, lastReadings, readingRows } from '../rows/graph/readings.js'
import { findSpace } from '../rows/spaces.js'
import type { Read } from '../storage/program.js'
import { writeAnswer } from '../storage/write-answer.js'
import { readingModel } from './model-reader.js'
import type { GraphReadings } from './readings.js'
import { toReading } from './told-reading.js'

/** Operations that read complete spaces for their graphs. */
export interface GraphReadingOperations {
  /** Starts a reading; a running one gets the new budget. */
  start(caller: Caller, spaceId: string, body: StartGraphReadingBody): Promise<GraphReading>
  /** newest first */
  list(caller: Caller, spaceId: string): Promise<{ items: GraphReading[] }>
  /** @throws KsError `not-found` */
  get(caller: Caller, spaceId: string, id: string): Promise<GraphReading>
  /** @throws KsError `already-terminal` when it has ended */
  cancel(caller: Caller, spaceId: string, id: string): Promise<GraphReading>
}

export function createReadingOperations(context: EngineContext, readings: GraphReadings): GraphReadingOperations {
  const { db } = context
  return {
    async start(caller, spaceId, { budgetTokens }) {
      const made = await writeAnswer(db, caller, function* () {
        const space = yield* findSpace(caller.tenant, spaceId)
        return toReading(space, yield* beginReading(space, yield* readingModel(context, space), budgetTokens))
      })
      readings.wake()
      return made
    },
    async list(caller, spaceId) {
      return { items: await db.read(readingsOf(caller, spaceId)) }
    },
    async get(caller, spaceId, id) {
      const space = await db.read(findSpace(caller.tenant, spaceId))
      return toReading(space, await db.read(readingRows.find(space, id)))
    },
    async cancel(caller, spaceId, id) {
      const { key, answer } = await writeAnswer(
        db,
        caller,
        function* () {
          const space = yield* findSpace(caller.tenant, spaceId)
          const { key } = yield* readingRows.findOpen(space, id)
          yield* endReading(key, 'canceled')
          return { key, answer: toReading(space, yield* readingRows.find(space, id)) }
        },
        { answer: (made) => made.answer },
      )
      await readings.ended(key)
      return answer
    },
  }
}

function* readingsOf(caller: Caller, spaceId: string): Read<GraphReading[]> {
  const space = yield* findSpace(caller.tenant, spaceId)
  return (yield* lastReadings(space)).map((row) => toReading(space, row))
}
