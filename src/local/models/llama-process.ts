import { type ChildProcess, fork } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { NO_DEBUGGER_FLAGS } from '../../lib/debugger-flags.js'
import { resolveEntryUrl } from '../../lib/entry.js'
import { killAtExit } from '../../lib/kill-at-exit.js'
import { readResidentBytes } from '../../lib/resident-bytes.js'
import type {
  LlamaChildMessage,
  LlamaFault,
  LlamaParentMessage,
  LlamaReply,
  LlamaRequest,
  LlamaStart,
} from './llama-messages.js'
import type { ModelTask } from './pulled.js'

const MIB = 1024 * 1024
/** Context and working memory of the runtime, in addition to the weights. */
const MEMORY_OVER_WEIGHTS = 2048 * MIB
/** Idle time after which a process ends. A start takes a second or two. */
const IDLE_TIMEOUT_MS = 5 * 60_000
/** A canceled request that still runs after this time, in a loaded model, ends the process. */
const CANCEL_TIMEOUT_MS = 15_000
const MEMORY_CHECK_INTERVAL_MS = 500
/** Timeout of loading. Large weights on a slow disk take minutes. */
const LOAD_TIMEOUT_MS = 5 * 60_000
/** Limit of context windows, whose memory grows with their length; embedders and rerankers have shorter ones. */
const MAX_CONTEXT_TOKENS = 8192
/** More threads gain nothing: the bandwidth of the memory is the limit. */
const MAX_THREADS = 8
const NODE_FLAGS = ['--max-old-space-size=512', ...NO_DEBUGGER_FLAGS]

/** Facts of a loaded model, as its process reports them. */
export interface LoadedModel {
  contextTokens: number
  dimension: number | undefined
}

/** A request that the runtime did not complete. */
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
  /** limit of resident memory, above which the process is killed; Linux only */
  memoryBytes?: number
  idleMs?: number
  cancelMs?: number
  loadMs?: number
}

interface PendingRequest {
  resolve: (reply: LlamaReply) => void
  reject: (error: Error) => void
  onDelta: ((text: string) => void) | undefined
}

interface RunningModel {
  child: ChildProcess
  loaded: Promise<LoadedModel>
  pending: Map<number, PendingRequest>
  /** why this program kills it */
  killReason?: string
}

/** One model in a process, which starts with the first request and ends when idle. */
export class LlamaProcess {
  readonly #options: LlamaOptions
  #running: RunningModel | undefined
  #nextId = 1
  #idleTimer: NodeJS.Timeout | undefined

  constructor(options: LlamaOptions) {
    this.#options = options
  }

  /** Process id while one runs. */
  pid(): number | undefined {
    return this.#running?.child.pid
  }

  /** Loads the model. @throws LlamaFailure `unloadable`, `gone` */
  async load(): Promise<LoadedModel> {
    const running = this.#getRunning()
    try {
      return await running.loaded
    } finally {
      this.#scheduleIdleEnd(running)
    }
  }

  /**
   * Sends a request and waits for its reply.
   *
   * @param onDelta receives the pieces of an answer
   * @throws LlamaFailure; the signal's reason when it aborted
   */
  async sendRequest(
    request: LlamaRequest,
    signal?: AbortSignal,
    onDelta?: (text: string) => void,
  ): Promise<LlamaReply> {
    signal?.throwIfAborted()
    const running = this.#getRunning()
    const { child, pending } = running
    const id = this.#nextId++
    const post = (message: LlamaParentMessage) => {
      if (child.connected) child.send(message, () => undefined)
    }
    let cancelTimer: NodeJS.Timeout | undefined
    let cancel = () => {}
    const startCancelTimer = () => {
      if (!pending.has(id)) return
      const { cancelMs = CANCEL_TIMEOUT_MS } = this.#options
      cancelTimer = setTimeout(() => this.#kill(running, 'did not end a canceled request'), cancelMs)
      cancelTimer.unref()
    }
    const aborted = new Promise<never>((_, reject) => {
      cancel = () => {
        post({ op: 'cancel', id })
        // Loading has a separate limit: other requests may wait for it.
        running.loaded.then(startCancelTimer, () => undefined)
        reject(signal?.reason)
      }
    })
    signal?.addEventListener('abort', cancel, { once: true })
    // The reply of a canceled request settles when the process has dropped it.
    const replied = new Promise<LlamaReply>((resolve, reject) => {
      pending.set(id, { resolve, reject, onDelta })
    }).finally(() => {
      clearTimeout(cancelTimer)
      signal?.removeEventListener('abort', cancel)
      pending.delete(id)
      this.#scheduleIdleEnd(running)
    })
    post({ ...request, id })
    return await Promise.race([replied, aborted])
  }

  /** Ends the process; requests fail. */
  end(): void {
    clearTimeout(this.#idleTimer)
    if (this.#running !== undefined) this.#kill(this.#running, 'was ended')
  }

  #getRunning(): RunningModel {
    clearTimeout(this.#idleTimer)
    this.#running ??= this.#start()
    return this.#running
  }

  #start(): RunningModel {
    const { entry, weights, bytes, task, memoryBytes = bytes * 2 + MEMORY_OVER_WEIGHTS } = this.#options
    const start: LlamaStart = {
      entry,
      weights,
      task,
      contextTokens: MAX_CONTEXT_TOKENS,
      threads: Math.min(MAX_THREADS, Math.max(1, availableParallelism() - 1)),
    }
    const child = fork(fileURLToPath(resolveEntryUrl(import.meta.url, './llama-child.js')), [JSON.stringify(start)], {
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      execArgv: NODE_FLAGS,
      // no credentials
      env: {},
    })
    killAtExit(child)
    let finishLoading = (_: LoadedModel) => {}
    let failLoading = (_: LlamaFailure) => {}
    const loaded = new Promise<LoadedModel>((resolve, reject) => {
      finishLoading = resolve
      failLoading = reject
    })
    // Each request reports the failure.
    loaded.catch(() => undefined)
    const running: RunningModel = { child, loaded, pending: new Map() }
    const memoryTimer = setInterval(() => {
      if (readResidentBytes(child.pid) > memoryBytes)
        this.#kill(running, `took more than ${Math.round(memoryBytes / MIB)} MiB of memory`)
    }, MEMORY_CHECK_INTERVAL_MS)
    memoryTimer.unref()
    const loadTimer = setTimeout(
      () => this.#kill(running, 'did not load its model in time'),
      this.#options.loadMs ?? LOAD_TIMEOUT_MS,
    )
    loadTimer.unref()
    const failAll = (error: LlamaFailure) => {
      if (this.#running === running) this.#running = undefined
      clearInterval(memoryTimer)
      clearTimeout(loadTimer)
      failLoading(error)
      for (const { reject } of running.pending.values()) reject(error)
    }
    const failGone = (description: string) =>
      failAll(new LlamaFailure('gone', `its process ${running.killReason ?? description}`))
    child.on('message', (message: LlamaChildMessage) => {
      if (message.type === 'ready') {
        clearTimeout(loadTimer)
        finishLoading({ contextTokens: message.contextTokens, dimension: message.dimension })
      }
      if (message.type === 'unloadable') failAll(new LlamaFailure('unloadable', message.reason))
      if (message.type !== 'ready' && message.type !== 'unloadable') deliver(running.pending.get(message.id), message)
    })
    child.once('error', (error) => failGone(`did not start: ${error.message}`))
    child.once('exit', (code, signal) => failGone(`ended by ${signal ?? `code ${code}`}`))
    return running
  }

  #scheduleIdleEnd(running: RunningModel): void {
    if (running.pending.size > 0 || this.#running !== running) return
    clearTimeout(this.#idleTimer)
    this.#idleTimer = setTimeout(() => this.#kill(running, 'was idle'), this.#options.idleMs ?? IDLE_TIMEOUT_MS)
    this.#idleTimer.unref()
  }

  #kill(running: RunningModel, reason: string): void {
    running.killReason ??= reason
    // The next request starts another process.
    if (this.#running === running) this.#running = undefined
    running.child.kill('SIGKILL')
  }
}

function deliver(
  pending: PendingRequest | undefined,
  message: Exclude<LlamaChildMessage, { type: 'ready' | 'unloadable' }>,
): void {
  if (message.type === 'delta') pending?.onDelta?.(message.text)
  else if (message.type === 'done') pending?.resolve(message.reply)
  else pending?.reject(new LlamaFailure(message.fault, message.reason))
}
