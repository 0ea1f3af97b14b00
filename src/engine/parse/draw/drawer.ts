import type { ChildProcess } from 'node:child_process'
import { KsError } from '../../../contract/errors.js'
import { entryUrl } from '../../../lib/entry.js'
import { helperThreads } from '../../../lib/helper-threads.js'
import { killAtExit } from '../../../lib/kill-at-exit.js'
import { lowerPriority } from '../../../lib/low-priority.js'
import { residentBytes } from '../../../lib/resident-bytes.js'
import { FairGate } from '../../base/fair-gate.js'
import { forkReader } from '../child-handle.js'
import { type FedFile, FileFeed } from '../file-feed.js'
import { DEFAULT_LIMITS } from '../limits.js'
import type { Drawing, Drawn, DrawReport, DrawRequest, Marking, Marks } from './messages.js'

/** A drawing takes milliseconds, a page with a map seconds; longer on a busy machine. */
const TIMEOUT_MS = 30_000
/** An idle child process ends after this time. */
const IDLE_MS = 20_000
/** Maximal number of queued drawings of all tenants. */
const MAX_WAITING = 64
const WATCH_MS = 250
/**
 * A child that uses more than this fraction of its memory limit is replaced before the next drawing: WebAssembly never
 * returns memory.
 */
const RECYCLE_SHARE = 0.4
const HEAP_MIB = 256

/** Makes previews of pictures and pages, and locates texts on pages, in a separate process. */
export interface Drawer {
  /**
   * @param tenant the tenant in whose queue the drawing waits
   * @throws KsError `not-found` when it cannot be drawn, `asset-too-large` when it has too many pixels, `busy`
   */
  draw(drawing: Drawing, tenant: string, file?: FedFile): Promise<Drawn>
  /** Locates texts on a page. @throws KsError as `draw` does */
  mark(marking: Marking, tenant: string, file: FedFile): Promise<Marks>
  /** Ids of the running drawing processes. */
  pids(): number[]
  close(): void
}

export function createDrawer(options: { timeoutMs?: number } = {}): Drawer {
  return new ProcessDrawer(options.timeoutMs ?? TIMEOUT_MS)
}

class ProcessDrawer implements Drawer {
  readonly #timeoutMs: number
  #child: ChildProcess | undefined
  /** The process draws one page at a time. */
  readonly #gate = new FairGate(1, MAX_WAITING, 'drawings')
  #idle: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs
  }

  async draw(drawing: Drawing, tenant: string, file?: FedFile): Promise<Drawn> {
    const report = await this.#inTurn({ drawing }, tenant, file)
    if (report.kind === 'drawn') return report.drawn
    throw said()
  }

  async mark(marking: Marking, tenant: string, file: FedFile): Promise<Marks> {
    const report = await this.#inTurn({ marking }, tenant, file)
    if (report.kind === 'marked') return report.marks
    throw said()
  }

  async #inTurn(request: DrawRequest, tenant: string, file: FedFile | undefined): Promise<DrawReport> {
    const leave = await this.#gate.enter(tenant)
    try {
      return await this.#askNow(request, file)
    } finally {
      leave()
    }
  }

  pids(): number[] {
    return this.#child?.pid === undefined ? [] : [this.#child.pid]
  }

  close(): void {
    this.#isClosed = true
    this.#end()
  }

  #end(): void {
    clearTimeout(this.#idle)
    this.#child?.kill('SIGKILL')
    this.#child = undefined
  }

  async #askNow(request: DrawRequest, file: FedFile | undefined): Promise<DrawReport> {
    if (this.#isClosed) throw new KsError('unavailable', 'the daemon is stopping')
    clearTimeout(this.#idle)
    const child = this.#child ?? (await this.#start())
    const report = await this.#ask(child, request, file)
    const isSpent = report.kind === 'failed' && report.spent
    const isLarge = residentBytes(child.pid) > DEFAULT_LIMITS.memoryBytes * RECYCLE_SHARE
    if (isSpent || isLarge || this.#child !== child) this.#end()
    else this.#idle = setTimeout(() => this.#end(), IDLE_MS).unref()
    if (report.kind === 'failed')
      throw new KsError(report.reason === 'too-large' ? 'asset-too-large' : 'not-found', report.message)
    return report
  }

  async #start(): Promise<ChildProcess> {
    const child = forkReader(entryUrl(import.meta.url, './draw-child.js'), {
      heapMib: HEAP_MIB,
      stderr: 'ignore',
      flags: ['--max-semi-space-size=2', helperThreads(1)],
      env: { MALLOC_ARENA_MAX: '1' },
    })
    this.#child = child
    lowerPriority(child.pid)
    killAtExit(child)
    child.on('error', () => undefined)
    await this.#next(child)
    return child
  }

  #ask(child: ChildProcess, request: DrawRequest, file: FedFile | undefined): Promise<DrawReport> {
    const reply = this.#next(child, file)
    child.send(request, () => undefined)
    return reply
  }

  /** Waits for the next report of a child. Kills a child that takes too long or grows too large. */
  #next(child: ChildProcess, file?: FedFile): Promise<DrawReport> {
    return new Promise((resolve, reject) => {
      const feed = new FileFeed(child, file === undefined ? [] : [file])
      let why = 'the drawing process ended'
      const kill = (reason: string) => {
        why = reason
        child.kill('SIGKILL')
      }
      const timer = setTimeout(() => kill('it takes too long'), this.#timeoutMs)
      const memory = setInterval(() => {
        if (residentBytes(child.pid) > DEFAULT_LIMITS.memoryBytes) kill('it takes too much memory')
      }, WATCH_MS)
      const finish = () => {
        clearTimeout(timer)
        clearInterval(memory)
        feed.close()
        child.off('message', onMessage)
        child.off('exit', onExit)
        child.unref()
        child.channel?.unref()
      }
      const onMessage = (report: DrawReport) => {
        if (report.kind === 'file') {
          feed.answer(report)
          return
        }
        finish()
        resolve(report)
      }
      const onExit = () => {
        finish()
        if (this.#child === child) this.#child = undefined
        reject(new KsError(this.#isClosed ? 'unavailable' : 'not-found', `it cannot be drawn: ${why}`))
      }
      child.on('message', onMessage)
      child.on('exit', onExit)
      if (child.exitCode !== null || child.signalCode !== null) onExit()
      child.ref()
      child.channel?.ref()
    })
  }
}

function said(): KsError {
  return new KsError('unavailable', 'unexpected reply of the drawing process')
}
