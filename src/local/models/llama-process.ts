import { type ChildProcess, fork } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { NO_DEBUGGER_FLAGS } from '../../lib/debugger-flags.js'
import { entryUrl } from '../../lib/entry.js'
import { killAtExit } from '../../lib/kill-at-exit.js'
import { residentBytes } from '../../lib/resident-bytes.js'
import type { FromLlama, LlamaFault, LlamaReply, LlamaRequest, LlamaStart, ToLlama } from './llama-messages.js'
import type { ModelTask } from './pulled.js'

const MIB = 1024 * 1024
/** Context and working memory of the runtime next to the weights. */
const MEMORY_OVER_WEIGHTS = 2048 * MIB
/** A process that no request uses ends after this time: its memory is worth more than a start of a second or two. */
const IDLE_MS = 5 * 60_000
/** A canceled request that goes on for this time ends the process. */
const CANCEL_MS = 15_000
const LOOK_MS = 500
/** The window of a language model takes memory with its length; embedders and rerankers have less. */
const MAX_CONTEXT_TOKENS = 8192
/** More threads than this share the memory's bandwidth alone. */
const MAX_THREADS = 8
const NODE_FLAGS = ['--max-old-space-size=512', ...NO_DEBUGGER_FLAGS]

/** What the process reports of its model. */
export interface LoadedModel {
  contextTokens: number
  dimension: number | undefined
}

/** The runtime did not do a request. */
export class LlamaFailure extends Error {
  /** `gone`: the process ended; the request may be sent again. `unloadable`: the model cannot be loaded */
  readonly fault: LlamaFault | 'gone' | 'unloadable'

  constructor(fault: LlamaFailure['fault'], reason: string) {
    super(reason)
    this.name = 'LlamaFailure'
    this.fault = fault
  }
}

export interface LlamaOptions {
  /** module of the runtime */
  entry: string
  weights: string
  /** bytes of the weights */
  bytes: number
  task: ModelTask
  /** resident memory that ends the process; Linux only */
  memoryBytes?: number
  idleMs?: number
  cancelMs?: number
}

interface Waiting {
  resolve: (reply: LlamaReply) => void
  reject: (error: Error) => void
  onDelta: ((text: string) => void) | undefined
}

interface Running {
  child: ChildProcess
  loaded: Promise<LoadedModel>
  waiting: Map<number, Waiting>
  /** why it is being ended */
  reason?: string
}

/** One model in a process, which starts with the first request and ends when idle. */
export class LlamaProcess {
  readonly #options: LlamaOptions
  #running: Running | undefined
  #nextId = 1
  #idle: NodeJS.Timeout | undefined

  constructor(options: LlamaOptions) {
    this.#options = options
  }

  /** Process id while one runs. */
  pid(): number | undefined {
    return this.#running?.child.pid
  }

  /** Loads the model. @throws LlamaFailure `unloadable`, `gone` */
  async load(): Promise<LoadedModel> {
    const running = this.#current()
    try {
      return await running.loaded
    } finally {
      this.#rest(running)
    }
  }

  /**
   * Sends a request and waits for its reply.
   *
   * @param onDelta takes an answer as it is written
   * @throws LlamaFailure; the signal's reason when it aborted
   */
  async ask(request: LlamaRequest, signal?: AbortSignal, onDelta?: (text: string) => void): Promise<LlamaReply> {
    signal?.throwIfAborted()
    const running = this.#current()
    const { child, waiting } = running
    const id = this.#nextId++
    const post = (message: ToLlama) => {
      if (child.connected) child.send(message, () => undefined)
    }
    let overdue: NodeJS.Timeout | undefined
    let cancel = () => {}
    const aborted = new Promise<never>((_, reject) => {
      cancel = () => {
        post({ op: 'cancel', id })
        overdue = setTimeout(() => this.#kill(running, 'did not end a canceled request'), this.#cancelMs())
        overdue.unref()
        reject(signal?.reason)
      }
    })
    signal?.addEventListener('abort', cancel, { once: true })
    // a canceled request waits here until the process has dropped it
    const replied = new Promise<LlamaReply>((resolve, reject) => {
      waiting.set(id, { resolve, reject, onDelta })
    }).finally(() => {
      clearTimeout(overdue)
      signal?.removeEventListener('abort', cancel)
      waiting.delete(id)
      this.#rest(running)
    })
    post({ ...request, id })
    return await Promise.race([replied, aborted])
  }

  /** Ends the process; requests fail. */
  end(): void {
    clearTimeout(this.#idle)
    if (this.#running !== undefined) this.#kill(this.#running, 'was ended')
  }

  #cancelMs(): number {
    return this.#options.cancelMs ?? CANCEL_MS
  }

  #current(): Running {
    clearTimeout(this.#idle)
    this.#running ??= this.#start()
    return this.#running
  }

  #start(): Running {
    const { entry, weights, bytes, task, memoryBytes = bytes * 2 + MEMORY_OVER_WEIGHTS } = this.#options
    const start: LlamaStart = {
      entry,
      weights,
      task,
      contextTokens: MAX_CONTEXT_TOKENS,
      threads: Math.min(MAX_THREADS, Math.max(1, availableParallelism() - 1)),
    }
    const child = fork(fileURLToPath(entryUrl(import.meta.url, './llama-child.js')), [JSON.stringify(start)], {
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      execArgv: NODE_FLAGS,
      // nothing that could be a credential
      env: {},
    })
    killAtExit(child)
    let ready = (_: LoadedModel) => {}
    let unready = (_: LlamaFailure) => {}
    const loaded = new Promise<LoadedModel>((resolve, reject) => {
      ready = resolve
      unready = reject
    })
    // each request reports it
    loaded.catch(() => undefined)
    const running: Running = { child, loaded, waiting: new Map() }
    const watch = setInterval(() => {
      if (residentBytes(child.pid) > memoryBytes)
        this.#kill(running, `took more than ${Math.round(memoryBytes / MIB)} MiB of memory`)
    }, LOOK_MS)
    watch.unref()
    const failed = (error: LlamaFailure) => {
      if (this.#running === running) this.#running = undefined
      clearInterval(watch)
      unready(error)
      for (const { reject } of running.waiting.values()) reject(error)
    }
    const gone = (how: string) => failed(new LlamaFailure('gone', `its process ${running.reason ?? how}`))
    child.on('message', (message: FromLlama) => {
      if (message.type === 'ready') ready({ contextTokens: message.contextTokens, dimension: message.dimension })
      else if (message.type === 'unloadable') failed(new LlamaFailure('unloadable', message.reason))
      else take(running.waiting.get(message.id), message)
    })
    child.once('error', (error) => gone(`did not start: ${error.message}`))
    child.once('exit', (code, signal) => gone(`ended by ${signal ?? `code ${code}`}`))
    return running
  }

  #rest(running: Running): void {
    if (running.waiting.size > 0 || this.#running !== running) return
    clearTimeout(this.#idle)
    this.#idle = setTimeout(() => this.#kill(running, 'was idle'), this.#options.idleMs ?? IDLE_MS)
    this.#idle.unref()
  }

  #kill(running: Running, reason: string): void {
    running.reason ??= reason
    // the next request starts another one
    if (this.#running === running) this.#running = undefined
    running.child.kill('SIGKILL')
  }
}

function take(waiting: Waiting | undefined, message: Exclude<FromLlama, { type: 'ready' | 'unloadable' }>): void {
  if (message.type === 'delta') waiting?.onDelta?.(message.text)
  else if (message.type === 'done') waiting?.resolve(message.reply)
  else waiting?.reject(new LlamaFailure(message.fault, message.reason))
}
