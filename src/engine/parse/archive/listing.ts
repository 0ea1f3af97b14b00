import type { Outcome } from '../inside/inside.js'
import { safePath } from '../inside/names.js'
import { ReadError } from '../limits.js'
import type { Block, Parsed } from '../parsed.js'

/** Maximum number of names in the text; files beyond it are documents all the same. */
const LISTED = 1000
/** Names in one block. */
const TOGETHER = 50

/** Collects the files of an archive while it is read, and builds its text from them. */
export class Listing {
  readonly #filename: string
  readonly #lines: string[] = []
  #kept = 0
  #skipped = 0
  #unread = 0
  #locked = 0

  constructor(filename: string) {
    this.#filename = filename
  }

  note(name: string, outcome: Outcome): void {
    if ('skipped' in outcome) {
      this.#skipped += 1
      return
    }
    if ('kept' in outcome) this.#kept += 1
    else this.#unread += 1
    if (this.#lines.length >= LISTED) return
    this.#lines.push('kept' in outcome ? outcome.kept : `${safePath(name)} (not read: ${outcome.unread})`)
  }

  /** Adds a file that cannot be read without its password. */
  noteLocked(name: string): void {
    this.#locked += 1
    this.note(name, { unread: 'it is protected by a password' })
  }

  /** @throws ReadError where nothing can be read */
  told(): Parsed {
    const all = this.#kept + this.#unread
    if (this.#locked > 0 && this.#kept === 0)
      throw new ReadError('encrypted', `${this.#filename} is protected by a password`)
    if (all === 0) throw new ReadError('empty', `${this.#filename} holds no files`)
    if (this.#kept === 0)
      throw new ReadError('malformed', `${this.#filename} holds no file that can be read: ${this.#lines[0] ?? ''}`)
    const more = all - this.#lines.length
    const lines = more === 0 ? this.#lines : [...this.#lines, `and ${more.toLocaleString('en-US')} more`]
    const blocks: Block[] = [{ type: 'paragraph', text: this.#summary(all) }]
    for (let from = 0; from < lines.length; from += TOGETHER)
      blocks.push({ type: 'list', text: lines.slice(from, from + TOGETHER).join('\n') })
    return {
      parser: 'native-structured',
      contentType: 'structured',
      blocks,
      metadata: { containedFiles: this.#kept, unreadFiles: this.#unread, skippedFiles: this.#skipped },
    }
  }

  #summary(all: number): string {
    const files = all === 1 ? '1 file' : `${all.toLocaleString('en-US')} files`
    const unread = this.#unread === 0 ? '' : `, ${this.#unread.toLocaleString('en-US')} of them not read`
    return `Archive ${this.#filename} with ${files}${unread}`
  }
}
