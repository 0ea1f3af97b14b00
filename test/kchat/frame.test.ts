import { WriteStream } from 'node:tty'
import { describe, expect, it } from 'vitest'
import { createInkStdout } from '../../src/kchat/chat/frame.js'

const ERASE_TWO = '\u001b[2K\u001b[1A\u001b[2K\u001b[1A\u001b[2K\u001b[G'
const UP = '\u001b[2K\u001b[1A'

/** A terminal of a size that changes before its signal arrives. */
function terminal(columns: number) {
  const written: string[] = []
  const size = { columns }
  const stream = Object.assign(Object.create(WriteStream.prototype), {
    getWindowSize: () => [size.columns, 24],
    write: (text: string) => written.push(text),
  })
  return { written, size, stdout: createInkStdout(stream) }
}

describe('the view of kchat in a terminal that changes its width', () => {
  it('clears the rows that the previous frame takes after the terminal got narrower', () => {
    const { written, size, stdout } = terminal(40)
    stdout.write(`${'a'.repeat(30)}\n${'b'.repeat(30)}\n`)
    size.columns = 20
    stdout.write(`${ERASE_TWO}${'c'.repeat(20)}\n`)
    expect(written.at(-1)).toBe(`${UP}${UP}${ERASE_TWO}${'c'.repeat(20)}\n`)
  })

  it('clears nothing above a frame that was already erased, nor above text of the scrollback', () => {
    const { written, size, stdout } = terminal(40)
    stdout.write(`${'a'.repeat(30)}\n`)
    stdout.write(ERASE_TWO)
    size.columns = 20
    stdout.write(`${'s'.repeat(30)}\n`)
    stdout.write(`${'b'.repeat(10)}\n`)
    stdout.write(`${ERASE_TWO}${'b'.repeat(11)}\n`)
    expect(written.slice(1)).toEqual([
      ERASE_TWO,
      `${'s'.repeat(30)}\n`,
      `${'b'.repeat(10)}\n`,
      `${ERASE_TWO}${'b'.repeat(11)}\n`,
    ])
  })
})
