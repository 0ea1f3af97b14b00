import type { OutStream } from './output.js'
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
  /** A terminal that can be redrawn; otherwise plain lines. */
  live: boolean
  width: number
  view: () => ProgressView
  /** Clock in milliseconds, for tests. */
  now?: () => number
}

/** Shorter work shows no progress. */
const QUIET_MS = 300
const FRAME_MS = 100
const PLAIN_MS = 10_000

/** A live display of a few lines on a terminal, or a plain line every 10 s elsewhere. */
export class Progress {
  private readonly options: ProgressOptions
  private readonly now: () => number
  private readonly started: number
  private timer: NodeJS.Timeout | undefined
  private drawn = 0
  /** False for a quiet command, which stops its display without starting it. */
  private isShown = false
  private lastPlainAt: number
  private lastPlain = ''

  constructor(options: ProgressOptions) {
    this.options = options
    this.now = options.now ?? (() => Date.now())
    this.started = this.now()
    this.lastPlainAt = this.started
  }

  start(): void {
    this.isShown = true
    this.timer = setInterval(() => this.tick(), FRAME_MS)
    this.timer.unref()
  }

  /** One tick of the timer; public so that tests need no timers. */
  tick(): void {
    const now = this.now()
    this.isShown = true
    if (now - this.started < QUIET_MS) return
    if (this.options.live) this.draw()
    else if (now - this.lastPlainAt >= PLAIN_MS) this.writePlain(now)
  }

  /** Writes a permanent line above the live display. */
  say(line: string): void {
    this.clear()
    this.options.stream.write(`${ttyLine(line)}\n`)
  }

  /** Ends the display. A log gets the last state as a line if the work was long enough. */
  stop(): void {
    if (this.timer !== undefined) clearInterval(this.timer)
    this.timer = undefined
    this.clear()
    if (this.isShown && !this.options.live && this.now() - this.started >= PLAIN_MS) this.writePlain(this.now())
  }

  private draw(): void {
    const lines = this.options.view().lines.map((line) => ttyLine(line).slice(0, this.options.width - 1))
    this.clear()
    this.options.stream.write(`${lines.join('\n')}\n`)
    this.drawn = lines.length
  }

  private clear(): void {
    // Moves to the first line of the display and erases everything below.
    if (this.drawn > 0) writeControls(this.options.stream, `\u001b[${this.drawn}F\u001b[J`)
    this.drawn = 0
  }

  private writePlain(now: number): void {
    const { plain } = this.options.view()
    this.lastPlainAt = now
    if (plain === this.lastPlain) return
    this.lastPlain = plain
    this.options.stream.write(`${ttyLine(plain)}\n`)
  }
}

/** `████████░░░░` */
export function bar(share: number, width: number, marks: { full: string; empty: string }): string {
  const full = Math.round(Math.min(1, Math.max(0, share)) * width)
  return marks.full.repeat(full) + marks.empty.repeat(width - full)
}
