import type { GraphReading, StartGraphReadingBody } from '../../../contract/gateway/graph-readings.js'
import type { Caller } from '../../base/caller.js'
import type { EngineContext } from '../../library/index.js'
import { bind, bindRead } from '../../store/bind-operation.js'
import type { Read } from '../../store/program.js'
import { beginReading, endReading, listRecentReadings, readingRows } from '../../store/rows/graph/readings.js'
import { findSpace } from '../../store/rows/spaces.js'
import { writeReply } from '../../store/write-reply.js'
import { findReadingModel } from './model-reader.js'
import type { GraphReadings } from './readings.js'
import { toReading } from './to-reading.js'

/** Operations that read complete spaces for their graphs. */
export function createGraphReadingOperations(context: EngineContext, readings: GraphReadings) {
  const { db } = context
  return {
    /** Starts a reading; a running one gets the new budget. */
    start: bind(async (caller: Caller, spaceId: string, { budgetTokens }: StartGraphReadingBody) => {
      const reading = await writeReply(db, caller, function* () {
        const space = yield* findSpace(caller.tenant, spaceId)
        return toReading(space, yield* beginReading(space, yield* findReadingModel(context, space), budgetTokens))
      })
      readings.wake()
      return reading
    }),
    list: bindRead(db, listReadings),
    get: bindRead(db, getReading),
    /** @throws KsError `already-terminal` when it has ended */
    cancel: bind(async (caller: Caller, spaceId: string, id: string) => {
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
      await readings.stopRun(key)
      return answer
    }),
  }
}

/** Newest first. */
function* listReadings(caller: Caller, spaceId: string): Read<{ items: GraphReading[] }> {
  const space = yield* findSpace(caller.tenant, spaceId)
  return { items: (yield* listRecentReadings(space)).map((row) => toReading(space, row)) }
}

function* getReading(caller: Caller, spaceId: string, id: string): Read<GraphReading> {
  const space = yield* findSpace(caller.tenant, spaceId)
  return toReading(space, yield* readingRows.find(space, id))
}
