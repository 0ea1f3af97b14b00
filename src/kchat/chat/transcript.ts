import { tty } from '../../cli/terminal.js'
import type { Entry } from './entries.js'
import { answerLines, footOf, headOf, type Line, linesOf } from './lines.js'
import { partsOf } from './markdown.js'

/** Lines that are written once and then belong to the terminal. */
export interface Piece {
  readonly key: number
  readonly lines: readonly Line[]
}

interface Growth {
  /** the written text of the answer, safe for the terminal */
  written: string
  isHeadWritten: boolean
  /** length of the remaining text that was already searched for complete blocks */
  looked: number
}

const NOTHING: Growth = { written: '', isHeadWritten: false, looked: 0 }
const BLANK: Line = { text: '', style: 'answer' }

/**
 * The conversation as lines. Final lines go to the scrollback once, an answer paragraph by paragraph; growing ones are
 * redrawn.
 */
export class Transcript {
  pieces: readonly Piece[] = []
  #keys = 0
  /** count of entries that were written completely */
  #done = 0
  #growth: Growth = { ...NOTHING }

  /** Drops the written pieces. */
  forget(): void {
    this.pieces = []
  }

  /**
   * Writes everything that is complete.
   *
   * @returns the lines of the rest
   */
  follow(entries: readonly Entry[], width: number): Line[] {
    for (let entry = entries[this.#done]; entry !== undefined; entry = entries[this.#done]) {
      if (entry.isGrowing === true) break
      this.#write(this.#growth.isHeadWritten ? this.#restOf(entry, width) : linesOf(entry, width))
      this.#growth = { ...NOTHING }
      this.#done++
    }
    const [growing, ...after] = entries.slice(this.#done)
    if (growing === undefined) return []
    return [...this.#grown(growing, width), ...after.flatMap((entry) => linesOf(entry, width))]
  }

  #write(lines: readonly Line[]): void {
    if (lines.length > 0) this.pieces = [...this.pieces, { key: this.#keys++, lines }]
  }

  /** The unwritten lines of an answer that is now complete. */
  #restOf(entry: Entry, width: number): Line[] {
    const text = this.#goneOn(tty(entry.text).trimEnd())
    const rest = text.trim() === '' ? [] : [...answerLines(text, width), BLANK]
    const foot = footOf(entry, width)
    return [...rest, ...(foot.length === 0 ? [] : [...foot, BLANK])]
  }

  /** The text after the written part; the complete text if the service replaced the answer. */
  #goneOn(text: string): string {
    const { written } = this.#growth
    if (text.startsWith(written)) return text.slice(written.length)
    if (written.trimEnd() === text) return ''
    this.#write([{ text: '(the service replaced this answer)', style: 'dim' }, BLANK])
    this.#growth = { ...NOTHING, isHeadWritten: true }
    return text
  }

  #grown(entry: Entry, width: number): Line[] {
    // The character after a carriage return decides its meaning.
    const safe = tty(entry.text.endsWith('\r') ? entry.text.slice(0, -1) : entry.text)
    let rest = this.#goneOn(safe)
    const lastBreak = rest.lastIndexOf('\n')
    if (lastBreak >= this.#growth.looked) {
      rest = this.#writeWhole(entry, rest, width)
      this.#growth.looked = rest.length
    }
    const head = this.#growth.isHeadWritten ? [] : headOf(entry)
    return [...head, ...(rest.trim() === '' ? [] : answerLines(rest, width))]
  }

  /** Writes the blocks that no longer change. @returns the last block */
  #writeWhole(entry: Entry, rest: string, width: number): string {
    const parts = partsOf(rest)
    const last = parts.at(-1)?.at ?? 0
    if (last === 0) return rest
    if (!this.#growth.isHeadWritten) this.#write(headOf(entry))
    this.#growth.isHeadWritten = true
    for (const [index, { at }] of parts.slice(0, -1).entries()) {
      const next = parts[index + 1]
      const lines = answerLines(rest.slice(at, next?.at), width)
      this.#write(next?.isNext === true ? lines : [...lines, BLANK])
    }
    this.#growth.written += rest.slice(0, last)
    return rest.slice(last)
  }
}
