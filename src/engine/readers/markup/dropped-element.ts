/** Tracks the element that is dropped with its content while tags are read. */
export class DroppedElementTracker {
  #name = ''
  #depth = 0

  /** Whether the current content is dropped. */
  get isActive(): boolean {
    return this.#name !== ''
  }

  /** Reads an opening tag. @returns whether the element is dropped, itself or within another one */
  open(name: string, isDropped: boolean): boolean {
    if (this.#name === '') {
      if (!isDropped) return false
      this.#name = name
    }
    if (name === this.#name) this.#depth++
    return true
  }

  /** Reads a closing tag. @returns whether its element was dropped */
  close(name: string): boolean {
    if (this.#name === '') return false
    if (name === this.#name && --this.#depth === 0) this.#name = ''
    return true
  }
}
