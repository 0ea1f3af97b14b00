/** The element that is left out with everything in it, while its tags go by. */
export class DroppedElement {
  #name = ''
  #depth = 0

  /** Whether what goes by is left out. */
  get inside(): boolean {
    return this.#name !== ''
  }

  /**
   * An element opens.
   *
   * @param dropped whether it begins to be left out here
   * @returns whether it is left out
   */
  opens(name: string, dropped: boolean): boolean {
    if (this.#name === '') {
      if (!dropped) return false
      this.#name = name
    }
    if (name === this.#name) this.#depth++
    return true
  }

  /** @returns whether the element that closes was left out */
  closes(name: string): boolean {
    if (this.#name === '') return false
    if (name === this.#name && --this.#depth === 0) this.#name = ''
    return true
  }
}
