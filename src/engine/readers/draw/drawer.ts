import type { ChildProcess } from 'node:child_process'
import { KsError } from '../../../contract/errors.js'
import { resolveEntryUrl } from '../../../lib/entry.js'
import { buildHelperThreadsFlag } from '../../../lib/helper-threads.js'
import { killAtExit } from '../../../lib/kill-at-exit.js'
import { lowerPriority } from '../../../lib/low-priority.js'
import { readResidentBytes } from '../../../lib/resident-bytes.js'
import { FairGate } from '../../base/fair-gate.js'
import { forkReader } from '../child-handle.js'
import { type FeedFile, FileFeed } from '../file-feed.js'
import { DEFAULT_LIMITS } from '../limits.js'
import type { DrawReport, DrawRequest, MarkRequest, PageMarks, PreviewImage, PreviewRequest } from './messages.js'

/** A drawing takes milliseconds, a page with a map seconds; longer on a busy machine. */
const TIMEOUT_MS = 30_000
/** An idle child process ends after this time. */
const IDLE_MS = 20_000
/** Maximal number of queued drawings of all tenants. */
const MAX_QUEUED_COUNT = 64
const WATCH_MS = 250
/**
 * A child that uses more than this fraction of its memory limit is replaced before the next drawing: WebAssembly never
 * returns memory.
 */
const RECYCLE_FRACTION = 0.4
const HEAP_MIB = 256

/** Makes previews of pictures and pages, and locates texts on pages, in a separate process. */
export interface Drawer {
  /**
   * @param tenant the tenant in whose queue the drawing waits
   * @throws KsError `not-found` when it cannot be drawn, `asset-too-large` when it has too many pixels, `busy`
   */
  draw(drawing: PreviewRequest, tenant: string, file?: FeedFile): Promise<PreviewImage>
  /** Locates texts on a page. @throws KsError as `draw` does */
  mark(marking: MarkRequest, tenant: string, file: FeedFile): Promise<PageMarks>
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
  readonly #gate = new FairGate(1, MAX_QUEUED_COUNT, 'drawings')
  #idle: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs
  }

  async draw(drawing: PreviewRequest, tenant: string, file?: FeedFile): Promise<PreviewImage> {
    const report = await this.#enqueue({ drawing }, tenant, file)
    if (report.kind === 'drawn') return report.drawn
    throw createUnexpectedReplyError()
  }

  async mark(marking: MarkRequest, tenant: string, file: FeedFile): Promise<PageMarks> {
    const report = await this.#enqueue({ marking }, tenant, file)
    if (report.kind === 'marked') return report.marks
    throw createUnexpectedReplyError()
  }

  async #enqueue(request: DrawRequest, tenant: string, file: FeedFile | undefined): Promise<DrawReport> {
    const release = await this.#gate.enter(tenant)
    try {
      return await this.#runRequest(request, file)
    } finally {
      release()
    }
  }

  pids(): number[] {
    return this.#child?.pid === undefined ? [] : [this.#child.pid]
  }

  close(): void {
    this.#isClosed = true
    this.#endChild()
  }

  #endChild(): void {
    clearTimeout(this.#idle)
    this.#child?.kill('SIGKILL')
    this.#child = undefined
  }

  async #runRequest(request: DrawRequest, file: FeedFile | undefined): Promise<DrawReport> {
    if (this.#isClosed) throw new KsError('unavailable', 'the daemon is stopping')
    clearTimeout(this.#idle)
    const child = this.#child ?? (await this.#start())
    const reply = this.#nextReport(child, file)
    child.send(request, () => undefined)
    const report = await reply
    const isSpent = report.kind === 'failed' && report.spent
    const isLarge = readResidentBytes(child.pid) > DEFAULT_LIMITS.memoryBytes * RECYCLE_FRACTION
    if (isSpent || isLarge || this.#child !== child) this.#endChild()
    else this.#idle = setTimeout(() => this.#endChild(), IDLE_MS).unref()
    if (report.kind === 'failed')
      throw new KsError(report.reason === 'too-large' ? 'asset-too-large' : 'not-found', report.message)
    return report
  }

  async #start(): Promise<ChildProcess> {
    const child = forkReader(resolveEntryUrl(import.meta.url, './draw-child.js'), {
      heapMib: HEAP_MIB,
      stderr: 'ignore',
      flags: ['--max-semi-space-size=2', buildHelperThreadsFlag(1)],
      env: { MALLOC_ARENA_MAX: '1' },
    })
    this.#child = child
    lowerPriority(child.pid)
    killAtExit(child)
    child.on('error', () => undefined)
    await this.#nextReport(child)
    return child
  }

  /** Waits for the next report of a child. Kills a child that takes too long or grows too large. */
  #nextReport(child: ChildProcess, file?: FeedFile): Promise<DrawReport> {
    return new Promise((resolve, reject) => {
      const feed = new FileFeed(child, file === undefined ? [] : [file])
      let reason = 'the drawing process ended'
      const kill = (killReason: string) => {
        reason = killReason
        child.kill('SIGKILL')
      }
      const timer = setTimeout(() => kill('it takes too long'), this.#timeoutMs)
      const memory = setInterval(() => {
        if (readResidentBytes(child.pid) > DEFAULT_LIMITS.memoryBytes) kill('it takes too much memory')
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
          feed.reply(report)
          return
        }
        finish()
        resolve(report)
      }
      const onExit = () => {
        finish()
        if (this.#child === child) this.#child = undefined
        reject(new KsError(this.#isClosed ? 'unavailable' : 'not-found', `it cannot be drawn: ${reason}`))
      }
      child.on('message', onMessage)
      child.on('exit', onExit)
      if (child.exitCode !== null || child.signalCode !== null) onExit()
      child.ref()
      child.channel?.ref()
    })
  }
}

function createUnexpectedReplyError(): KsError {
  return new KsError('unavailable', 'unexpected reply of the drawing process')
}
