import { tty } from '../../cli/terminal.js'
import type { ChatEntry } from './entries.js'
import { renderAnswer, renderEntry, renderFoot, renderHead, type ViewLine } from './lines.js'
import { splitBlocks } from './markdown.js'

/** Lines that are written once and then belong to the terminal. */
export interface TranscriptPiece {
  readonly key: number
  readonly lines: readonly ViewLine[]
}

interface AnswerProgress {
  /** the written text of the answer, safe for the terminal */
  written: string
  isHeadWritten: boolean
  /** length of the remaining text that was already searched for complete blocks */
  searchedLength: number
}

const NO_PROGRESS: AnswerProgress = { written: '', isHeadWritten: false, searchedLength: 0 }
const BLANK: ViewLine = { text: '', style: 'answer' }

/**
 * The conversation as lines. Final lines go to the scrollback once, an answer paragraph by paragraph; growing ones are
 * redrawn.
 */
export class ChatTranscript {
  pieces: readonly TranscriptPiece[] = []
  #nextKey = 0
  /** count of entries that were written completely */
  #writtenCount = 0
  #progress: AnswerProgress = { ...NO_PROGRESS }

  /** Drops the written pieces. */
  clear(): void {
    this.pieces = []
  }

  /**
   * Writes everything that is complete.
   *
   * @returns the lines of the rest
   */
  update(entries: readonly ChatEntry[], width: number): ViewLine[] {
    for (let entry = entries[this.#writtenCount]; entry !== undefined; entry = entries[this.#writtenCount]) {
      if (entry.isGrowing === true) break
      this.#write(this.#progress.isHeadWritten ? this.#renderRest(entry, width) : renderEntry(entry, width))
      this.#progress = { ...NO_PROGRESS }
      this.#writtenCount++
    }
    const [growing, ...later] = entries.slice(this.#writtenCount)
    if (growing === undefined) return []
    return [...this.#renderGrowing(growing, width), ...later.flatMap((entry) => renderEntry(entry, width))]
  }

  #write(lines: readonly ViewLine[]): void {
    if (lines.length > 0) this.pieces = [...this.pieces, { key: this.#nextKey++, lines }]
  }

  /** The unwritten lines of an answer that is now complete. */
  #renderRest(entry: ChatEntry, width: number): ViewLine[] {
    const text = this.#unwrittenText(tty(entry.text).trimEnd())
    const rest = text.trim() === '' ? [] : [...renderAnswer(text, width), BLANK]
    const foot = renderFoot(entry, width)
    return [...rest, ...(foot.length === 0 ? [] : [...foot, BLANK])]
  }

  /** The text after the written part; the complete text if the service replaced the answer. */
  #unwrittenText(text: string): string {
    const { written } = this.#progress
    if (text.startsWith(written)) return text.slice(written.length)
    if (written.trimEnd() === text) return ''
    this.#write([{ text: '(the service replaced this answer)', style: 'dim' }, BLANK])
    this.#progress = { ...NO_PROGRESS, isHeadWritten: true }
    return text
  }

  #renderGrowing(entry: ChatEntry, width: number): ViewLine[] {
    // The character after a carriage return decides its meaning.
    const safe = tty(entry.text.endsWith('\r') ? entry.text.slice(0, -1) : entry.text)
    let rest = this.#unwrittenText(safe)
    const lastBreak = rest.lastIndexOf('\n')
    if (lastBreak >= this.#progress.searchedLength) {
      rest = this.#writeComplete(entry, rest, width)
      this.#progress.searchedLength = rest.length
    }
    const head = this.#progress.isHeadWritten ? [] : renderHead(entry)
    return [...head, ...(rest.trim() === '' ? [] : renderAnswer(rest, width))]
  }

  /** Writes the blocks that no longer change. @returns the last block */
  #writeComplete(entry: ChatEntry, rest: string, width: number): string {
    const parts = splitBlocks(rest)
    const lastOffset = parts.at(-1)?.offset ?? 0
    if (lastOffset === 0) return rest
    if (!this.#progress.isHeadWritten) this.#write(renderHead(entry))
    this.#progress.isHeadWritten = true
    for (const [index, { offset }] of parts.slice(0, -1).entries()) {
      const next = parts[index + 1]
      const lines = renderAnswer(rest.slice(offset, next?.offset), width)
      this.#write(next?.followsItem === true ? lines : [...lines, BLANK])
    }
    this.#progress.written += rest.slice(0, lastOffset)
    return rest.slice(lastOffset)
  }
}
