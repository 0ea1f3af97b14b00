const OPENING_TAG = /^[ \t]*<think>/
const FENCE = /^[ \t]*(?:```|~~~)/
/** a line that may still become one of both when more of it arrives */
const UNDECIDED = /^[ \t]*(?:<(?:t(?:h(?:i(?:n(?:k)?)?)?)?)?|`{1,2}|~{1,2})?$/
const CLOSING_TAG = '</think>'

/**
 * Separates the thoughts of a model from its output while both stream. A thought is enclosed in `<think>` at the
 * beginning of a line and `</think>`. Tags in the middle of a line or in a code block are not thoughts.
 */
export class ThoughtSeparator {
  #rest = ''
  #thought = ''
  #atLineStart = true
  #inThought = false
  #inFence = false
  #hasOutput = false

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
    let output = ''
    for (let hasMoved = true; hasMoved && this.#rest !== ''; ) {
      const before = this.#rest
      output += this.#inThought ? this.#readThought() : this.#readOutput()
      hasMoved = this.#rest !== before
    }
    return output
  }

  /** Ends the stream. @returns the text that was withheld until now */
  end(): string {
    const rest = this.#rest
    this.#rest = ''
    if (!this.#inThought) return rest
    this.#thought += rest
    return ''
  }

  #readThought(): '' {
    const end = this.#rest.indexOf(CLOSING_TAG)
    // The closing tag may arrive in pieces.
    const thoughtLength = end === -1 ? Math.max(0, this.#rest.length - CLOSING_TAG.length + 1) : end
    this.#thought += this.#rest.slice(0, thoughtLength)
    this.#rest = this.#rest.slice(end === -1 ? thoughtLength : end + CLOSING_TAG.length)
    if (end !== -1) {
      this.#inThought = false
      this.#atLineStart = true
    }
    return ''
  }

  #readOutput(): string {
    if (this.#atLineStart) {
      // The empty lines between a thought and the answer belong to neither.
      if (!this.#hasOutput) this.#rest = this.#rest.trimStart()
      if (UNDECIDED.test(this.#rest)) return ''
      const opening = this.#inFence ? null : OPENING_TAG.exec(this.#rest)
      if (opening !== null) {
        this.#rest = this.#rest.slice(opening[0].length)
        this.#inThought = true
        return ''
      }
      if (FENCE.test(this.#rest)) this.#inFence = !this.#inFence
      this.#atLineStart = false
    }
    const end = this.#rest.indexOf('\n') + 1
    const output = end === 0 ? this.#rest : this.#rest.slice(0, end)
    this.#rest = this.#rest.slice(output.length)
    this.#hasOutput ||= output !== ''
    this.#atLineStart = end > 0
    return output
  }
}
