import { setTimeout as sleep } from 'node:timers/promises'
import { ChatError } from '../../../../contract/chat/errors.js'
import type { AgentThought, ChatFrame, ChatUsage, RetrieverResource } from '../../../../contract/chat/messages.js'
import { asTenant } from '../../../base/tenant-scope.js'
import type { EngineContext } from '../../../library/index.js'
import type { Read } from '../../../store/program.js'
import { parseJsonCell } from '../../../store/readable.js'
import {
  type EndUserScope,
  findMessage,
  findMessageUsage,
  type MessageRow,
} from '../../../store/rows/chat/conversations.js'
import { type FrameBatch, listFramesFrom, requestFrames } from '../../../store/rows/chat/turns.js'
import { isGatewayRegistered } from '../../../store/rows/gateways.js'
import {
  createEndFrame,
  createErrorFrame,
  createPingFrame,
  createReplaceFrame,
  createTextFrames,
  createThoughtFrame,
  type TurnIds,
} from '../frames.js'
import type { ChatStream } from '../turn.js'
import { computeUsage } from '../usage.js'

const POLL_MS = 250
const RENEW_REQUEST_MS = 4000
/** Events after which only audio follows. */
const FINAL_EVENTS: ReadonlySet<ChatFrame['event']> = new Set(['message_end', 'error'])

/** The state of a turn of another gateway in the database. */
interface StoredTurnState {
  batches: FrameBatch[]
  row: MessageRow | undefined
  usage: ChatUsage | undefined
  isOwned: boolean
}

/**
 * A turn that another gateway runs or has just finished. This gateway requests its frames, which arrive through the
 * database. If the other gateway is gone, the stored message provides the end.
 */
export class FollowedTurn implements ChatStream {
  readonly ids: TurnIds
  readonly #context: EngineContext
  readonly #endUser: EndUserScope
  readonly #gateway: string

  constructor(context: EngineContext, endUser: EndUserScope, row: MessageRow, gateway: string) {
    this.#context = context
    this.#endUser = endUser
    this.#gateway = gateway
    this.ids = {
      taskId: row.task_id,
      messageId: row.id,
      conversationId: row.conversation_id,
      createdAt: Math.floor(row.created_at / 1000),
    }
  }

  ping(): ChatFrame {
    return createPingFrame(this.ids)
  }

  async *frames(): AsyncGenerator<ChatFrame> {
    const { db } = this.#context
    const sentFrames: ChatFrame[] = []
    let requestedAt = Number.NEGATIVE_INFINITY
    for (;;) {
      if (performance.now() - requestedAt > RENEW_REQUEST_MS) {
        requestedAt = performance.now()
        if (!(await this.#requestFrames()))
          return yield* this.#finishFromMessage(sentFrames, { row: undefined, usage: undefined })
      }
      // Frames are read after the request has been answered.
      const seen = await asTenant(this.#endUser.tenant, () => db.read(this.#readState(sentFrames.length)))
      let isOver = false
      for (const { first, frames, last } of seen.batches) {
        const newFrames: ChatFrame[] = parseJsonCell(frames)
        for (const frame of newFrames.slice(Math.max(0, sentFrames.length - first))) {
          sentFrames.push(frame)
          yield frame
        }
        isOver ||= last === 1
      }
      if (isOver && sentFrames.some(({ event }) => FINAL_EVENTS.has(event))) return
      // The other gateway is gone, or has forgotten the turn: the stored message is the end, once its status is final.
      if ((isOver || !seen.isOwned) && seen.row?.status !== 'running')
        return yield* this.#finishFromMessage(sentFrames, seen)
      await sleep(POLL_MS)
    }
  }

  /** @returns whether the message still exists */
  async #requestFrames(): Promise<boolean> {
    const { ids, ...self } = { ids: this.ids, endUser: this.#endUser, gateway: this.#gateway }
    const { db } = this.#context
    return await asTenant(self.endUser.tenant, () =>
      db.write(function* () {
        if ((yield* findMessage(self.endUser, ids.messageId)) === undefined) return false
        yield* requestFrames(self.endUser, ids.messageId, self.gateway)
        return true
      }),
    )
  }

  *#readState(next: number): Read<StoredTurnState> {
    const { messageId } = this.ids
    const isOwned = yield* isGatewayRegistered(this.#gateway)
    return {
      isOwned,
      batches: yield* listFramesFrom(this.#endUser, messageId, next),
      row: yield* findMessage(this.#endUser, messageId),
      usage: yield* findMessageUsage(this.#endUser, messageId),
    }
  }

  /** The unsent rest of an answer, from the stored message. */
  *#finishFromMessage(
    sentFrames: readonly ChatFrame[],
    { row, usage }: Pick<StoredTurnState, 'row' | 'usage'>,
  ): Generator<ChatFrame> {
    const { ids } = this
    if (row === undefined) return yield createErrorFrame(ids, new ChatError('not_found', 'Task Not Exists.'))
    if (row.status === 'error') {
      const message = row.error ?? 'the answer was not completed'
      return yield createErrorFrame(ids, new ChatError('service_unavailable', message))
    }
    const known = new Set(sentFrames.map((frame) => (frame.event === 'agent_thought' ? frame.id : '')))
    const thoughts: AgentThought[] = parseJsonCell(row.thoughts)
    for (const thought of thoughts) if (!known.has(thought.id)) yield createThoughtFrame(ids, thought)
    const text = joinText(sentFrames)
    if (!row.answer.startsWith(text)) yield createReplaceFrame(ids, row.answer)
    else if (row.answer.length > text.length) yield* createTextFrames(ids, row.answer.slice(text.length), 'message')
    const resources: RetrieverResource[] = parseJsonCell(row.resources)
    yield createEndFrame(ids, {
      usage: usage ?? computeUsage({}, 0, null),
      retriever_resources: resources,
      annotation_reply: null,
    })
  }
}

/** The text that results from frames. */
function joinText(frames: readonly ChatFrame[]): string {
  let text = ''
  for (const frame of frames) {
    if (frame.event === 'message_replace') text = frame.answer
    else if (frame.event === 'message' || frame.event === 'agent_message') text += frame.answer
  }
  return text
}
