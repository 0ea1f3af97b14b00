import type { ReadStream, WriteStream } from 'node:tty'
import stringWidth from 'string-width'
import { writeControls } from '../../cli/terminal-writer.js'

/** What ink draws below the scrollback, kept in step with terminals that wrap lines anew when they get narrower. */

/** more than any terminal has */
const ENDLESS = 1_000_000
const CLEAR_LINE_AND_GO_UP = '\u001b[2K\u001b[1A'

let drawn: readonly string[] = []

/** Tells what stands in the terminal below what was said. */
export function keepFrame(lines: readonly string[]): void {
  drawn = lines
}

/**
 * The terminal as ink is to see it: without end. Where a view is as high as the terminal, which a smaller window makes of any
 * view, ink would clear the terminal with all of its scrollback, that of other programs, too.
 */
export function inkStdout(stdout: WriteStream): WriteStream {
  return new Proxy(stdout, {
    get(target, name) {
      if (name === 'rows') return ENDLESS
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

/** Ink calls DEL, which terminals send for the backspace key, by the name of the other key that deletes. */
export function inkStdin(stdin: ReadStream): ReadStream {
  return new Proxy(stdin, {
    get(target, name) {
      if (name === 'read') return () => backspaced(target.read())
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

function backspaced(chunk: unknown): unknown {
  return typeof chunk === 'string' ? chunk.replaceAll('\u007f', '\b') : chunk
}

/**
 * Where the terminal gets narrower, lines of the view take more than one each; ink clears as many as it wrote. Clears the
 * others before.
 *
 * @returns what ends that
 */
export function clearFrame(stdout: WriteStream): () => void {
  let columns = stdout.columns
  const onResize = () => {
    const isNarrower = stdout.columns < columns
    columns = stdout.columns
    if (!isNarrower) return
    const rows = drawn.map((line) => Math.max(1, Math.ceil(stringWidth(line) / Math.max(1, columns))))
    const more = rows.reduce((sum, count) => sum + count, 0) - drawn.length
    writeControls(stdout, CLEAR_LINE_AND_GO_UP.repeat(Math.max(0, more)))
  }
  stdout.prependListener('resize', onResize)
  return () => {
    stdout.off('resize', onResize)
  }
}
