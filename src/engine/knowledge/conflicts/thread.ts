import { Worker } from 'node:worker_threads'
import { resolveEntryUrl } from '../../../lib/entry.js'
import type { ClaimReply, ClaimRequest } from './messages.js'

/** A space of 100,000 passages has some million claims. */
const HEAP_MEGABYTES = 768

const ENDED = 'the thread of contradictions ended'

type TypedReply<Type extends ClaimReply['type']> = Extract<ClaimReply, { type: Type }>

/** The thread that reads and compares claims. It handles one request at a time; a failed one is closed. */
export class ClaimThread {
  readonly #worker = new Worker(resolveEntryUrl(import.meta.url, './conflicts.worker.js'), {
    name: 'conflicts',
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MEGABYTES },
  })
  #hasEnded = false
  #pending: { resolve: (reply: ClaimReply) => void; reject: (error: unknown) => void } | undefined

  constructor() {
    this.#worker.unref()
    this.#worker.on('message', (reply: ClaimReply) => this.#takePending()?.resolve(reply))
    this.#worker.on('error', (error) => this.#takePending()?.reject(error))
    this.#worker.on('exit', () => {
      this.#hasEnded = true
      this.#takePending()?.reject(new Error(ENDED))
    })
  }

  /** @throws Error when the thread fails or is closed */
  async ask<Type extends ClaimReply['type']>(type: Type, request: ClaimRequest): Promise<TypedReply<Type>> {
    if (this.#hasEnded) throw new Error(ENDED)
    const reply = await new Promise<ClaimReply>((resolve, reject) => {
      this.#pending = { resolve, reject }
      this.#worker.postMessage(request)
    })
    if (reply.type === 'failed') throw new Error(reply.message)
    if (!isReplyOf(reply, type)) throw new Error(`the thread of contradictions answered ${reply.type}`)
    return reply
  }

  async close(): Promise<void> {
    await this.#worker.terminate()
  }

  #takePending() {
    const waiting = this.#pending
    this.#pending = undefined
    return waiting
  }
}

function isReplyOf<Type extends ClaimReply['type']>(reply: ClaimReply, type: Type): reply is TypedReply<Type> {
  return reply.type === type
}
