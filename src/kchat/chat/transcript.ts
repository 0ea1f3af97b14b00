import { tty } from '../../cli/terminal.js'
import type { Entry } from './entries.js'
import { answerLines, footOf, headOf, type Line, linesOf } from './lines.js'
import { partsOf } from './markdown.js'

/** Lines that are written once, and from then on belong to the terminal. */
export interface Piece {
  readonly key: number
  readonly lines: readonly Line[]
}

interface Growth {
  /** as much of the answer, safe for the terminal, as was written */
  written: string
  isHeadWritten: boolean
  /** as much of the rest as was looked at for parts that are whole */
  looked: number
}

const NOTHING: Growth = { written: '', isHeadWritten: false, looked: 0 }
const BLANK: Line = { text: '', style: 'answer' }

/**
 * The conversation as lines: what no longer changes goes to the scrollback, once, a paragraph of an answer at a time; what
 * still grows is drawn anew.
 */
export class Transcript {
  pieces: readonly Piece[] = []
  #keys = 0
  /** entries that were written whole */
  #done = 0
  #growth: Growth = { ...NOTHING }

  /** Pieces that are on the screen are let go. */
  forget(): void {
    this.pieces = []
  }

  /**
   * Writes what is whole by now.
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

  /** What is not yet written of an answer that is whole now. */
  #restOf(entry: Entry, width: number): Line[] {
    const text = this.#goneOn(tty(entry.text).trimEnd())
    const rest = text.trim() === '' ? [] : [...answerLines(text, width), BLANK]
    const foot = footOf(entry, width)
    return [...rest, ...(foot.length === 0 ? [] : [...foot, BLANK])]
  }

  /** The text behind what was written; all of it where the service took back what it said. */
  #goneOn(text: string): string {
    const { written } = this.#growth
    if (text.startsWith(written)) return text.slice(written.length)
    if (written.trimEnd() === text) return ''
    this.#write([{ text: '(the service replaced this answer)', style: 'dim' }, BLANK])
    this.#growth = { ...NOTHING, isHeadWritten: true }
    return text
  }

  #grown(entry: Entry, width: number): Line[] {
    // what follows a carriage return decides what it is
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

  /** Writes the parts that no longer change. @returns the last one */
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
