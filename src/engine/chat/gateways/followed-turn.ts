import { setTimeout as sleep } from 'node:timers/promises'
import { ChatError } from '../../../contract/chat/errors.js'
import type { AgentThought, ChatFrame, ChatUsage, RetrieverResource } from '../../../contract/chat/messages.js'
import { asTenant } from '../../base/tenant-scope.js'
import type { EngineContext } from '../../context.js'
import { findMessage, type MessageRow, usageOfMessage, type Who } from '../../rows/chat/conversations.js'
import { askToFollow, type FrameBatch, framesFrom } from '../../rows/chat/turns.js'
import { isThere } from '../../rows/gateways.js'
import type { Read } from '../../storage/program.js'
import { fromCell } from '../../storage/readable.js'
import { endFrame, errorFrame, pingFrame, replaceFrame, type TurnIds, textFrames, thoughtFrame } from '../frames.js'
import type { ChatStream } from '../turn.js'
import { usageOf } from '../usage.js'

const POLL_MS = 250
const RENEW_MS = 4000
/** Events after which only audio follows. */
const ENDS: ReadonlySet<ChatFrame['event']> = new Set(['message_end', 'error'])

/** The state of a turn of another gateway in the database. */
interface Seen {
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
  readonly #who: Who
  readonly #gateway: string

  constructor(context: EngineContext, who: Who, row: MessageRow, gateway: string) {
    this.#context = context
    this.#who = who
    this.#gateway = gateway
    this.ids = {
      taskId: row.task_id,
      messageId: row.id,
      conversationId: row.conversation_id,
      createdAt: Math.floor(row.created_at / 1000),
    }
  }

  ping(): ChatFrame {
    return pingFrame(this.ids)
  }

  async *frames(): AsyncGenerator<ChatFrame> {
    const { db } = this.#context
    const told: ChatFrame[] = []
    let asked = Number.NEGATIVE_INFINITY
    for (;;) {
      if (performance.now() - asked > RENEW_MS) {
        asked = performance.now()
        if (!(await this.#requestFrames()))
          return yield* this.#finishFromMessage(told, { row: undefined, usage: undefined })
      }
      // Frames are read after the request has been answered.
      const seen = await asTenant(this.#who.tenant, () => db.read(this.#readState(told.length)))
      let isOver = false
      for (const { first, frames, last } of seen.batches) {
        const came: ChatFrame[] = fromCell(frames)
        for (const frame of came.slice(Math.max(0, told.length - first))) {
          told.push(frame)
          yield frame
        }
        isOver ||= last === 1
      }
      if (isOver && told.some(({ event }) => ENDS.has(event))) return
      // The other gateway is gone, or has forgotten the turn: the stored message is the end, once its status is final.
      if ((isOver || !seen.isOwned) && seen.row?.status !== 'running') return yield* this.#finishFromMessage(told, seen)
      await sleep(POLL_MS)
    }
  }

  /** @returns whether the message still exists */
  async #requestFrames(): Promise<boolean> {
    const { ids, ...self } = { ids: this.ids, who: this.#who, gateway: this.#gateway }
    const { db } = this.#context
    return await asTenant(self.who.tenant, () =>
      db.write(function* () {
        if ((yield* findMessage(self.who, ids.messageId)) === undefined) return false
        yield* askToFollow(self.who, ids.messageId, self.gateway)
        return true
      }),
    )
  }

  *#readState(next: number): Read<Seen> {
    const { messageId } = this.ids
    const isOwned = yield* isThere(this.#gateway)
    return {
      isOwned,
      batches: yield* framesFrom(this.#who, messageId, next),
      row: yield* findMessage(this.#who, messageId),
      usage: yield* usageOfMessage(this.#who, messageId),
    }
  }

  /** The unsent rest of an answer, from the stored message. */
  *#finishFromMessage(told: readonly ChatFrame[], { row, usage }: Pick<Seen, 'row' | 'usage'>): Generator<ChatFrame> {
    const { ids } = this
    if (row === undefined) return yield errorFrame(ids, new ChatError('not_found', 'Task Not Exists.'))
    if (row.status === 'error') {
      const message = row.error ?? 'the answer was not completed'
      return yield errorFrame(ids, new ChatError('service_unavailable', message))
    }
    const known = new Set(told.map((frame) => (frame.event === 'agent_thought' ? frame.id : '')))
    const thoughts: AgentThought[] = fromCell(row.thoughts)
    for (const thought of thoughts) if (!known.has(thought.id)) yield thoughtFrame(ids, thought)
    const said = saidIn(told)
    if (!row.answer.startsWith(said)) yield replaceFrame(ids, row.answer)
    else if (row.answer.length > said.length) yield* textFrames(ids, row.answer.slice(said.length), 'message')
    const resources: RetrieverResource[] = fromCell(row.resources)
    yield endFrame(ids, {
      usage: usage ?? usageOf({}, 0, null),
      retriever_resources: resources,
      annotation_reply: null,
    })
  }
}

/** The text that results from frames. */
function saidIn(frames: readonly ChatFrame[]): string {
  let said = ''
  for (const frame of frames) {
    if (frame.event === 'message_replace') said = frame.answer
    else if (frame.event === 'message' || frame.event === 'agent_message') said += frame.answer
  }
  return said
}
