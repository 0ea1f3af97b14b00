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
 * Reports an endless terminal to ink. If a view is as high as the terminal, which any view is in a small window, ink
 * would clear the terminal with the complete scrollback, including that of other programs.
 */
export function createInkStdout(stdout: WriteStream): WriteStream {
  return new Proxy(stdout, {
    get(target, name) {
      if (name === 'rows') return ENDLESS_ROWS
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

/** Ink reports DEL, which terminals send for the backspace key, as the delete key. */
export function createInkStdin(stdin: ReadStream): ReadStream {
  return new Proxy(stdin, {
    get(target, name) {
      if (name === 'read') return () => mapDelToBackspace(target.read())
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

function mapDelToBackspace(chunk: unknown): unknown {
  return typeof chunk === 'string' ? chunk.replaceAll('\u007f', '\b') : chunk
}

/**
 * Clears the extra rows of the view when the terminal gets narrower. Wrapped lines take several rows, but ink clears
 * only as many rows as it wrote.
 *
 * @returns a function that ends this
 */
export function clearFrameOnResize(stdout: WriteStream): () => void {
  let columns = stdout.columns
  const onResize = () => {
    const isNarrower = stdout.columns < columns
    columns = stdout.columns
    if (!isNarrower) return
    const rows = frameLines.map((line) => Math.max(1, Math.ceil(stringWidth(line) / Math.max(1, columns))))
    const extraRows = rows.reduce((sum, count) => sum + count, 0) - frameLines.length
    writeControls(stdout, CLEAR_LINE_AND_GO_UP.repeat(Math.max(0, extraRows)))
  }
  stdout.prependListener('resize', onResize)
  return () => {
    stdout.off('resize', onResize)
  }
}
