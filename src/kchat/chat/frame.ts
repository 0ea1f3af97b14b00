import type { ReadStream, WriteStream } from 'node:tty'
import stringWidth from 'string-width'
import { writeControls } from '../../cli/terminal-writer.js'

/**
 * The part of the terminal below the scrollback, which ink redraws. Handles terminals that rewrap lines when they get
 * narrower.
 */

/** more rows than any terminal has */
const ENDLESS_ROWS = 1_000_000
const CLEAR_LINE_AND_GO_UP = '\u001b[2K\u001b[1A'

let frameLines: readonly string[] = []

/** Records the current lines of the view below the scrollback. */
export function recordFrame(lines: readonly string[]): void {
  frameLines = lines
}

/**
 * Wraps stdout so that ink sees an endless terminal. If a view is as high as the terminal, which any view is in a small
 * window, ink would clear the terminal with the complete scrollback, including that of other programs.
 */
export function createInkStdout(stdout: WriteStream): WriteStream {
  return overrideMember(stdout, 'rows', ENDLESS_ROWS)
}

/** Wraps stdin: ink takes DEL, which terminals send for the backspace key, for the delete key. */
export function createInkStdin(stdin: ReadStream): ReadStream {
  return overrideMember(stdin, 'read', () => {
    const chunk: unknown = stdin.read()
    return typeof chunk === 'string' ? chunk.replaceAll('\u007f', '\b') : chunk
  })
}

function overrideMember<T extends object>(stream: T, member: string, override: unknown): T {
  return new Proxy(stream, {
    get(target, name) {
      if (name === member) return override
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

/**
 * Clears the extra rows of the view when the terminal gets narrower. Wrapped lines take several rows, but ink clears
 * only as many rows as it wrote.
 *
 * @returns a function that stops this
 */
export function clearFrameOnResize(stdout: WriteStream): () => void {
  let columns = stdout.columns
  const onResize = () => {
    const isNarrower = stdout.columns < columns
    columns = stdout.columns
    if (!isNarrower) return
    const rowCounts = frameLines.map((line) => Math.max(1, Math.ceil(stringWidth(line) / Math.max(1, columns))))
    const extraRows = rowCounts.reduce((sum, count) => sum + count, 0) - frameLines.length
    writeControls(stdout, CLEAR_LINE_AND_GO_UP.repeat(Math.max(0, extraRows)))
  }
  stdout.prependListener('resize', onResize)
  return () => {
    stdout.off('resize', onResize)
  }
}
