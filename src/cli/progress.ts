import type { Output, OutStream } from './output.js'
import { ttyLine } from './terminal.js'
import { writeControls } from './terminal-writer.js'

/** Current content of a progress display. */
export interface ProgressView {
  /** Lines of the live display, cut to the width. */
  lines: string[]
  /** One plain line for logs. */
  plain: string
}

export interface ProgressOptions {
  stream: OutStream
  /** Whether the stream is a terminal that can be redrawn; otherwise plain lines are written. */
  live: boolean
  width: number
  view: () => ProgressView
  /** Clock in milliseconds, for tests. */
  now?: () => number
}

/** Shorter work shows no progress. */
const SHOW_AFTER_MS = 300
const FRAME_INTERVAL_MS = 100
const PLAIN_INTERVAL_MS = 10_000

/** A live display of a few lines on a terminal, or a plain line every 10 s elsewhere. */
export class Progress {
  private readonly options: ProgressOptions
  private readonly now: () => number
  private readonly startedAt: number
  private timer: NodeJS.Timeout | undefined
  private drawnLineCount = 0
  /** False for a quiet command, which stops its display without starting it. */
  private isShown = false
  private lastPlainAt: number
  private lastPlain = ''

  constructor(options: ProgressOptions) {
    this.options = options
    this.now = options.now ?? (() => Date.now())
    this.startedAt = this.now()
    this.lastPlainAt = this.startedAt
  }

  start(): void {
    this.isShown = true
    this.timer = setInterval(() => this.tick(), FRAME_INTERVAL_MS)
    this.timer.unref()
  }

  /** One tick of the timer; public so that tests need no timers. */
  tick(): void {
    const now = this.now()
    this.isShown = true
    if (now - this.startedAt < SHOW_AFTER_MS) return
    if (this.options.live) this.draw()
    else if (now - this.lastPlainAt >= PLAIN_INTERVAL_MS) this.writePlain(now)
  }

  /** Ends the display. A log gets the last state as a line if the work was long enough. */
  stop(): void {
    if (this.timer !== undefined) clearInterval(this.timer)
    this.timer = undefined
    this.clear()
    if (this.isShown && !this.options.live && this.now() - this.startedAt >= PLAIN_INTERVAL_MS)
      this.writePlain(this.now())
  }

  /** Writes a message in place of the display, which the next tick draws again below. */
  interrupt(write: () => void): void {
    this.clear()
    write()
  }

  private draw(): void {
    const lines = this.options.view().lines.map((line) => ttyLine(line).slice(0, this.options.width - 1))
    this.clear()
    this.options.stream.write(`${lines.join('\n')}\n`)
    this.drawnLineCount = lines.length
  }

  private clear(): void {
    // Moves to the first line of the display and erases everything below.
    if (this.drawnLineCount > 0) writeControls(this.options.stream, `\u001b[${this.drawnLineCount}F\u001b[J`)
    this.drawnLineCount = 0
  }

  private writePlain(now: number): void {
    const { plain } = this.options.view()
    this.lastPlainAt = now
    if (plain === this.lastPlain) return
    this.lastPlain = plain
    this.options.stream.write(`${ttyLine(plain)}\n`)
  }
}

/** Shows a line on stderr until `stop`, unless the command is quiet. */
export function startLineProgress(
  out: Output,
  formatLine: () => string,
  width = process.stderr.columns || 80,
): Progress {
  const view = () => ({ lines: [formatLine()], plain: formatLine() })
  const progress = new Progress({ stream: process.stderr, live: out.isErrTerminal, width, view })
  if (!out.isQuiet) progress.start()
  return progress
}

/** `████████░░░░` */
export function renderBar(fraction: number, width: number, symbols: { full: string; empty: string }): string {
  const full = Math.round(Math.min(1, Math.max(0, fraction)) * width)
  return symbols.full.repeat(full) + symbols.empty.repeat(width - full)
}
