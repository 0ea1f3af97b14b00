const OPENS = /^[ \t]*<think>/
const FENCE = /^[ \t]*(?:```|~~~)/
/** a line that may still become one of both when more of it arrives */
const UNDECIDED = /^[ \t]*(?:<(?:t(?:h(?:i(?:n(?:k)?)?)?)?)?|`{1,2}|~{1,2})?$/
const CLOSES = '</think>'

/**
 * Separates the thoughts of a model from its output while both stream. A thought is enclosed in `<think>` at the
 * beginning of a line and `</think>`. Tags in the middle of a line or in a code block are not thoughts.
 */
export class Thinking {
  #rest = ''
  #thought = ''
  #atLineStart = true
  #inThought = false
  #inFence = false
  #said = false

  /** the text of all thoughts so far */
  get thought(): string {
    return this.#thought
  }

  /** whether a thought has begun and not ended */
  get isOpen(): boolean {
    return this.#inThought
  }

  /** @returns the new text that is not a thought */
  add(text: string): string {
    this.#rest += text
    let said = ''
    for (let moved = true; moved && this.#rest !== ''; ) {
      const before = this.#rest
      said += this.#inThought ? this.#think() : this.#say()
      moved = this.#rest !== before
    }
    return said
  }

  /** Ends the stream. @returns the text that was withheld until now */
  end(): string {
    const rest = this.#rest
    this.#rest = ''
    if (!this.#inThought) return rest
    this.#thought += rest
    return ''
  }

  #think(): '' {
    const end = this.#rest.indexOf(CLOSES)
    // The closing tag may arrive in pieces.
    const kept = end === -1 ? Math.max(0, this.#rest.length - CLOSES.length + 1) : end
    this.#thought += this.#rest.slice(0, kept)
    this.#rest = this.#rest.slice(end === -1 ? kept : end + CLOSES.length)
    if (end !== -1) {
      this.#inThought = false
      this.#atLineStart = true
    }
    return ''
  }

  #say(): string {
    if (this.#atLineStart) {
      // The empty lines between a thought and the answer belong to neither.
      if (!this.#said) this.#rest = this.#rest.trimStart()
      if (UNDECIDED.test(this.#rest)) return ''
      const opening = this.#inFence ? null : OPENS.exec(this.#rest)
      if (opening !== null) {
        this.#rest = this.#rest.slice(opening[0].length)
        this.#inThought = true
        return ''
      }
      if (FENCE.test(this.#rest)) this.#inFence = !this.#inFence
      this.#atLineStart = false
    }
    const end = this.#rest.indexOf('\n') + 1
    const said = end === 0 ? this.#rest : this.#rest.slice(0, end)
    this.#rest = this.#rest.slice(said.length)
    this.#said ||= said !== ''
    this.#atLineStart = end > 0
    return said
  }
}
