import { pluralize } from '../../../lib/text/pluralize.js'
import type { ContainedFileOutcome } from '../inside/contained-files.js'
import { toSafePath } from '../inside/contained-names.js'
import { ReadError } from '../limits.js'
import type { Block, ParsedDocument } from '../parsed.js'

/** Maximum number of names in the text; files beyond it are documents all the same. */
const MAX_LISTED_NAMES = 1000
/** Names in one block. */
const NAMES_PER_BLOCK = 50

/** Collects the files of an archive while it is read, and builds its text from them. */
export class ArchiveListing {
  readonly #filename: string
  readonly #lines: string[] = []
  #kept = 0
  #skipped = 0
  #unread = 0
  #locked = 0

  constructor(filename: string) {
    this.#filename = filename
  }

  add(name: string, outcome: ContainedFileOutcome): void {
    if ('skipped' in outcome) {
      this.#skipped += 1
      return
    }
    if ('kept' in outcome) this.#kept += 1
    else this.#unread += 1
    if (this.#lines.length >= MAX_LISTED_NAMES) return
    this.#lines.push('kept' in outcome ? outcome.kept : `${toSafePath(name)} (not read: ${outcome.unread})`)
  }

  /** Adds a file that cannot be read without its password. */
  addEncrypted(name: string): void {
    this.#locked += 1
    this.add(name, { unread: 'it is protected by a password' })
  }

  /** @throws ReadError where nothing can be read */
  toDocument(): ParsedDocument {
    const total = this.#kept + this.#unread
    if (this.#locked > 0 && this.#kept === 0)
      throw new ReadError('encrypted', `${this.#filename} is protected by a password`)
    if (total === 0) throw new ReadError('empty', `${this.#filename} holds no files`)
    if (this.#kept === 0)
      throw new ReadError('malformed', `${this.#filename} holds no file that can be read: ${this.#lines[0] ?? ''}`)
    const unlisted = total - this.#lines.length
    const lines = unlisted === 0 ? this.#lines : [...this.#lines, `and ${unlisted.toLocaleString('en-US')} more`]
    const blocks: Block[] = [{ type: 'paragraph', text: this.#summary(total) }]
    for (let index = 0; index < lines.length; index += NAMES_PER_BLOCK)
      blocks.push({ type: 'list', text: lines.slice(index, index + NAMES_PER_BLOCK).join('\n') })
    return {
      parser: 'native-structured',
      contentType: 'structured',
      blocks,
      metadata: { containedFiles: this.#kept, unreadFiles: this.#unread, skippedFiles: this.#skipped },
    }
  }

  #summary(total: number): string {
    const files = pluralize(total, 'file')
    const unread = this.#unread === 0 ? '' : `, ${this.#unread.toLocaleString('en-US')} of them not read`
    return `Archive ${this.#filename} with ${files}${unread}`
  }
}
