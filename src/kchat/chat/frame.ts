import type { ReadStream, WriteStream } from 'node:tty'
import stringWidth from 'string-width'

/**
 * The part of the terminal below the scrollback, which ink redraws. Handles terminals that rewrap lines when they get
 * narrower.
 */

/** more rows than any terminal has */
const ENDLESS_ROWS = 1_000_000
const CLEAR_LINE_AND_GO_UP = '\u001b[2K\u001b[1A'

/** how ink begins to erase the previous frame */
const ERASE = '\u001b[2K'
/** sequences that move the cursor or switch a mode */
const CONTROLS = /\u001b\[[?\d;]*[A-HJKhl]/g

/**
 * Wraps stdout for ink.
 *
 * Ink sees an endless terminal: if a view is as high as the terminal, which any view is in a small window, ink would
 * clear the terminal with the complete scrollback, including that of other programs.
 *
 * Ink erases as many rows as it wrote lines, but in a terminal that got narrower a line takes several rows. Before ink
 * erases, the additional rows are cleared. The size is read at that moment: it changes before its signal arrives.
 */
export function createInkStdout(stdout: WriteStream): WriteStream {
  let frameLines: readonly string[] = []
  const write = (chunk: unknown, ...rest: unknown[]): unknown => {
    const text = String(chunk)
    const body = text.replace(CONTROLS, '')
    const isErasing = text.startsWith(ERASE)
    const [columns] = stdout.getWindowSize()
    const clearing = isErasing ? CLEAR_LINE_AND_GO_UP.repeat(countExtraRows(frameLines, columns)) : ''
    if (isErasing || body !== '') frameLines = body.split('\n')
    return Reflect.apply(stdout.write, stdout, [clearing + text, ...rest])
  }
  return overrideMember(overrideMember(stdout, 'rows', ENDLESS_ROWS), 'write', write)
}

/** Counts the rows that lines take in addition to one for each. */
function countExtraRows(lines: readonly string[], columns: number): number {
  return lines.reduce((sum, line) => sum + Math.max(0, Math.ceil(stringWidth(line) / Math.max(1, columns)) - 1), 0)
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
