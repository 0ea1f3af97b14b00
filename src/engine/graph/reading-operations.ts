import type { GraphReading, StartGraphReadingBody } from '../../contract/gateway/graph-readings.js'
import type { Caller } from '../base/caller.js'
import type { EngineContext } from '../context.js'
import { beginReading, endReading, listRecentReadings, readingRows } from '../rows/graph/readings.js'
import { findSpace } from '../rows/spaces.js'
import type { Read } from '../storage/program.js'
import { writeReply } from '../storage/write-reply.js'
import { findReadingModel } from './model-reader.js'
import type { GraphReadings } from './readings.js'
import { toReading } from './to-reading.js'

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

export function createGraphReadingOperations(context: EngineContext, readings: GraphReadings): GraphReadingOperations {
  const { db } = context
  return {
    async start(caller, spaceId, { budgetTokens }) {
      const reading = await writeReply(db, caller, function* () {
        const space = yield* findSpace(caller.tenant, spaceId)
        return toReading(space, yield* beginReading(space, yield* findReadingModel(context, space), budgetTokens))
      })
      readings.wake()
      return reading
    },
    async list(caller, spaceId) {
      return { items: await db.read(listReadings(caller, spaceId)) }
    },
    async get(caller, spaceId, id) {
      const space = await db.read(findSpace(caller.tenant, spaceId))
      return toReading(space, await db.read(readingRows.find(space, id)))
    },
    async cancel(caller, spaceId, id) {
      const { key, answer } = await writeReply(
        db,
        caller,
        function* () {
          const space = yield* findSpace(caller.tenant, spaceId)
          const { key } = yield* readingRows.findOpen(space, id)
          yield* endReading(key, 'canceled')
          return { key, answer: toReading(space, yield* readingRows.find(space, id)) }
        },
        { toReply: (reading) => reading.answer },
      )
      await readings.ended(key)
      return answer
    },
  }
}

function* listReadings(caller: Caller, spaceId: string): Read<GraphReading[]> {
  const space = yield* findSpace(caller.tenant, spaceId)
  return (yield* listRecentReadings(space)).map((row) => toReading(space, row))
}
