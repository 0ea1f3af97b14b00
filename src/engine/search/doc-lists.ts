const NONE = -1
const INITIAL_LENGTH = 512

/**
 * The rows of each document as doubly linked lists in typed arrays: two numbers per row, and removal in constant time.
 */
export class DocLists {
  readonly #firstOfDoc = new Map<number, number>()
  #docs = new Float64Array(INITIAL_LENGTH)
  #next = new Int32Array(INITIAL_LENGTH)
  #previous = new Int32Array(INITIAL_LENGTH)

  /** Adds a row that is in no list to the list of a document. */
  add(row: number, doc: number): void {
    if (row >= this.#docs.length) this.#grow(row)
    const first = this.#firstOfDoc.get(doc) ?? NONE
    this.#docs[row] = doc
    this.#next[row] = first
    this.#previous[row] = NONE
    if (first !== NONE) this.#previous[first] = row
    this.#firstOfDoc.set(doc, row)
  }

  /** Removes a row from its list. */
  remove(row: number): void {
    const next = this.#next[row] ?? NONE
    const previous = this.#previous[row] ?? NONE
    if (next !== NONE) this.#previous[next] = previous
    if (previous !== NONE) this.#next[previous] = next
    else if (next !== NONE) this.#firstOfDoc.set(this.docOf(row), next)
    else this.#firstOfDoc.delete(this.docOf(row))
  }

  docOf(row: number): number {
    return this.#docs[row] ?? 0
  }

  /** Rows of a document, newest first. */
  *rowsOf(doc: number): Iterable<number> {
    for (let row = this.#firstOfDoc.get(doc) ?? NONE; row !== NONE; row = this.#next[row] ?? NONE) yield row
  }

  #grow(row: number): void {
    const length = Math.max(row + 1, this.#docs.length * 2)
    const docs = new Float64Array(length)
    const next = new Int32Array(length)
    const previous = new Int32Array(length)
    docs.set(this.#docs)
    next.set(this.#next)
    previous.set(this.#previous)
    this.#docs = docs
    this.#next = next
    this.#previous = previous
  }
}
