import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { KsError } from '../../contract/errors.js'
import { NO_DEBUGGER_FLAGS } from '../../lib/debugger-flags.js'
import { resolveEntryUrl } from '../../lib/entry.js'
import { buildHelperThreadsFlag } from '../../lib/helper-threads.js'
import { killAtExit } from '../../lib/kill-at-exit.js'
import { omitUndefined } from '../../lib/omit-undefined.js'
import type { IndexChildMessage, IndexChildRequest, IndexReplyOf, IndexRequest } from './protocol.js'

/** The process ended, or closed the space, before it answered. The request may be retried. */
export class IndexProcessGoneError extends Error {
  /** the process crashed, so the request may be the cause */
  readonly isCrash: boolean

  constructor({ isCrash }: { isCrash: boolean }, message = 'the search index process ended before it answered') {
    super(message)
    this.isCrash = isCrash
  }
}

/** Signals of crashes in native code. Any other end came from outside, except the kill of a process that hangs. */
const CRASH_SIGNALS = new Set<NodeJS.Signals | null>(['SIGABRT', 'SIGSEGV', 'SIGBUS', 'SIGILL', 'SIGFPE', 'SIGTRAP'])
/** A process that lived this long resets the restart delays. */
const MIN_STABLE_MS = 5_000
/** Delay before the n-th start in a row of processes that died young; the last value repeats. */
const RESTART_DELAYS_MS = [0, 0, 10, 20, 50, 100, 100, 100, 100, 100, 100, 200, 400, 800, 1_600]
/** A process without any reply for this long hangs in native code. Long commits take a few seconds. */
const HANG_MS = 60_000
/** The same during shutdown: the next process replays what is not committed. */
const HANG_WHILE_STOPPING_MS = 4_000
/** Time to commit and close during shutdown. */
const CLOSE_MS = 10_000
/** Bytes sent and not yet answered; further requests wait here, not in the pipe. */
const MAX_INFLIGHT_BYTES = 4 * 1024 * 1024
/** Requests that do not wait for writing. */
const READ_OPERATIONS = new Set<IndexRequest['op']>(['search', 'status'])
const STDERR_TAIL_CHARACTERS = 2_000
/**
 * Settings of the C library's allocator: few arenas, because each thread of the text index would keep tens of
 * megabytes, and large blocks are returned to the system when a graph is replaced.
 */
const MALLOC_ENVIRONMENT = { MALLOC_ARENA_MAX: '2', MALLOC_MMAP_THRESHOLD_: '131072', MALLOC_TRIM_THRESHOLD_: '131072' }
/** Short-lived garbage is mostly message buffers: a small nursery keeps the process small. */
const NODE_FLAGS = ['--max-semi-space-size=4', buildHelperThreadsFlag(1), ...NO_DEBUGGER_FLAGS]

/** Error reasons of the process, as codes of the contract. */
const ERROR_CODES = { invalid: 'invalid-request', failed: 'unavailable', full: 'storage-full' } as const

interface PendingIndexRequest {
  request: IndexRequest
  resolve: (value: unknown) => void
  reject: (error: unknown) => void
  bytes: number
}

export interface IndexProcessOptions {
  /** settings of the process, sent as JSON */
  settings: unknown
  textEngine?: string
  log: (message: string) => void
  /** a space was closed to free capacity: its data in memory is lost */
  onClosed: (space: string) => void
  /** the process ended; after a crash, with the spaces that it worked for */
  onGone: (suspects: string[]) => void
  /** waits between changes while searches have priority */
  yieldToQueries?: (() => Promise<void>) | undefined
}

/** The child process with both indexes; it is restarted whenever it ends. */
export class IndexProcess {
  /** number of starts: a new process has nothing of what was loaded into an earlier one */
  generation = 0
  /** Waits while searches have priority: they wait while the process works at a change. */
  readonly yieldToQueries: () => Promise<void>
  readonly #options: IndexProcessOptions
  readonly #pending = new Map<number, PendingIndexRequest>()
  readonly #building = new Set<string>()
  readonly #windowWaiters: (() => void)[] = []
  #child: ChildProcess | undefined
  #nextId = 1
  #bytes = 0
  #youngDeaths = 0
  #starting: Promise<void> | undefined
  #watch: NodeJS.Timeout | undefined
  #hangMs = HANG_MS
  #shutdownAt = Number.NEGATIVE_INFINITY
  /** kills the process if it has been silent for too long */
  #killIfHung = (_silentMs: number) => {}
  #lastReplyAt = performance.now()
  #closed = false

  constructor(options: IndexProcessOptions) {
    this.#options = options
    this.yieldToQueries = options.yieldToQueries ?? (async () => {})
  }

  pid(): number | undefined {
    return this.#child?.pid
  }

  /** Vector graphs being built. */
  countBuilds(): number {
    return this.#building.size
  }

  /**
   * Sends a request and waits for its answer.
   *
   * @param generation the process that the request is for; absent = the running one, or the next one
   * @throws IndexProcessGoneError when the process ends first
   * @throws KsError `invalid-request` when the request breaks a rule, `unavailable` when the index fails
   */
  async request<R extends IndexRequest>(request: R, generation?: number): Promise<IndexReplyOf<R>>
  async request(request: IndexRequest, generation?: number): Promise<unknown> {
    const { answer } = await this.send(request, generation)
    return answer
  }

  /** Like `ask`, but resolves when the request is sent, so that later requests come after it. */
  async send(request: IndexRequest, generation?: number): Promise<{ answer: Promise<unknown> }> {
    const bytes = countBytes(request)
    while (bytes > 0 && this.#bytes > 0 && this.#bytes + bytes > MAX_INFLIGHT_BYTES) {
      await new Promise<void>((resolve) => this.#windowWaiters.push(resolve))
    }
    while (this.#child === undefined) {
      if (generation !== undefined) throw new IndexProcessGoneError({ isCrash: false })
      await this.start()
    }
    if (generation !== undefined && generation !== this.generation) throw new IndexProcessGoneError({ isCrash: false })
    const answer = this.#send(this.#child, request, bytes)
    // The caller awaits the answer later; until then a rejection must not count as unhandled.
    answer.catch(() => {})
    return { answer }
  }

  /** Starts the process if it is not running; with a delay after early deaths. */
  async start(): Promise<void> {
    if (this.#closed) throw new KsError('unavailable', 'the search indexes are closed')
    if (this.#child !== undefined) return
    this.#starting ??= this.#startLater().finally(() => {
      this.#starting = undefined
    })
    await this.#starting
  }

  async #startLater(): Promise<void> {
    const delay = RESTART_DELAYS_MS[Math.min(this.#youngDeaths, RESTART_DELAYS_MS.length - 1)] ?? 0
    if (delay > 0) await new Promise((resolve) => setTimeout(resolve, delay))
    if (!this.#closed) this.#spawn()
  }

  #spawn(): void {
    const child = fork(
      fileURLToPath(resolveEntryUrl(import.meta.url, './index-child.js')),
      [JSON.stringify(this.#options.settings)],
      {
        serialization: 'advanced',
        stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
        execArgv: NODE_FLAGS,
        env: childEnvironment(this.#options.textEngine),
      },
    )
    const born = performance.now()
    let stderr = ''
    let isEnded = false
    let isHung = false
    const handleEnd = (signal: NodeJS.Signals | null, reason: string): void => {
      if (isEnded) return
      isEnded = true
      this.#youngDeaths = performance.now() - born < MIN_STABLE_MS ? this.#youngDeaths + 1 : 0
      if (!this.#closed)
        this.#options.log(`the search index process ended (${reason})${stderr === '' ? '' : `: ${stderr}`}`)
      this.#rejectPending({ isCrash: isHung || CRASH_SIGNALS.has(signal) })
    }
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      stderr = (stderr + text).slice(-STDERR_TAIL_CHARACTERS)
    })
    child.on('message', (message: IndexChildMessage) => this.#receive(message))
    child.on('error', (error) => {
      if (child.pid === undefined) handleEnd(null, error.message)
    })
    child.on('exit', (code, signal) => handleEnd(signal, signal ?? `code ${code}`))
    killAtExit(child)
    this.#child = child
    this.generation++
    this.#lastReplyAt = performance.now()
    this.#killIfHung = (silentMs) => {
      if (silentMs < this.#hangMs) return
      this.#options.log('the search index process does not answer and is killed')
      isHung = true
      child.kill('SIGKILL')
    }
    this.#watchForHang()
  }

  #watchForHang(): void {
    clearInterval(this.#watch)
    this.#watch = setInterval(() => {
      if (this.#pending.size > 0) this.#killIfHung(performance.now() - this.#lastReplyAt)
    }, this.#hangMs / 4).unref()
  }

  /** The daemon is shutting down: shortens the wait for a process that hangs. */
  beginShutdown(): void {
    this.#hangMs = HANG_WHILE_STOPPING_MS
    this.#lastReplyAt = performance.now()
    this.#shutdownAt = performance.now()
    if (this.#child !== undefined) this.#watchForHang()
  }

  /** The thread that writes text indexes may hang while searches are still answered. */
  #noteWriting(forMs: number): void {
    const waitsForIt = [...this.#pending.values()].some(({ request }) => !READ_OPERATIONS.has(request.op))
    if (waitsForIt) this.#killIfHung(Math.min(forMs, performance.now() - this.#shutdownAt))
  }

  #send(child: ChildProcess, request: IndexRequest, bytes: number): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const id = this.#nextId++
      if (this.#pending.size === 0) this.#lastReplyAt = performance.now()
      this.#pending.set(id, { request, resolve, reject, bytes })
      this.#bytes += bytes
      const message: IndexChildRequest = { id, request }
      // A failed send means that the process is ending; its exit rejects all requests.
      child.send(message, () => {})
    })
  }

  #receive(message: IndexChildMessage): void {
    this.#lastReplyAt = performance.now()
    switch (message.kind) {
      case 'log':
        this.#options.log(message.message)
        return
      case 'closed':
        this.#options.onClosed(message.space)
        return
      case 'building':
        if (message.running) this.#building.add(message.space)
        else this.#building.delete(message.space)
        return
      case 'writing':
        this.#noteWriting(message.forMs)
        return
      case 'reply':
        this.#settle(message.id)?.resolve(message.value)
        return
      case 'error':
        this.#settle(message.id)?.reject(
          message.reason === 'closed'
            ? new IndexProcessGoneError({ isCrash: false }, message.message)
            : new KsError(ERROR_CODES[message.reason], message.message),
        )
    }
  }

  #settle(id: number): PendingIndexRequest | undefined {
    const waiting = this.#pending.get(id)
    this.#pending.delete(id)
    this.#release(waiting?.bytes ?? 0)
    return waiting
  }

  #release(bytes: number): void {
    this.#bytes -= bytes
    for (const resume of this.#windowWaiters.splice(0)) resume()
  }

  /** The process has ended: rejects everything unanswered. The next request finds another process. */
  #rejectPending({ isCrash }: { isCrash: boolean }): void {
    clearInterval(this.#watch)
    const lost = [...this.#pending.values()]
    const suspects = new Set(isCrash ? this.#building : [])
    if (isCrash) for (const { request } of lost) if (request.op !== 'close') suspects.add(request.space)
    this.#child = undefined
    this.#pending.clear()
    this.#building.clear()
    this.#release(this.#bytes)
    this.#options.onGone([...suspects])
    for (const waiting of lost) waiting.reject(new IndexProcessGoneError({ isCrash }))
    // Starts at once, to be ready before the next search.
    if (!this.#closed) this.start().catch(() => {})
  }

  /** Lets the process commit and close, and kills it after 10 s. */
  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    const child = this.#child
    clearInterval(this.#watch)
    if (child === undefined) return
    const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
    const deadline = setTimeout(() => child.kill('SIGKILL'), CLOSE_MS)
    await this.#send(child, { op: 'close' }, 0).catch(() => {})
    if (child.connected) child.disconnect()
    await exited
    clearTimeout(deadline)
  }
}

function childEnvironment(textEngine: string | undefined): NodeJS.ProcessEnv {
  const { PATH, TMPDIR, LD_LIBRARY_PATH, KS_TEXT_INDEX, KS_FAULT } = process.env
  const engine = textEngine ?? KS_TEXT_INDEX
  return {
    ...omitUndefined({ PATH, TMPDIR, LD_LIBRARY_PATH, KS_TEXT_INDEX: engine, KS_FAULT }),
    ...MALLOC_ENVIRONMENT,
  }
}

/** Bytes of the parts that can be large; they count for the window. */
function countBytes(request: IndexRequest): number {
  if (request.op === 'vectors') return request.values.byteLength
  if (request.op !== 'stage') return 0
  const characters = [...request.titles, ...request.bodies].reduce((sum, text) => sum + text.length, 0)
  return (
    characters + request.keys.byteLength * 2 + request.remove.byteLength + (request.vectors?.values.byteLength ?? 0)
  )
}
