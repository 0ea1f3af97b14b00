/** Ends of tags that the tokenizer finds too early; the HTML standard is followed here. */

/** Index of the `>` that ends a tag: one in a quoted value does not. The length of the source without one. */
export function findTagEnd(source: string, start: number): number {
  let isValue = false
  for (let index = start; index < source.length; index++) {
    const character = source.charAt(index)
    if (character === '>') return index
    if (isValue && (character === '"' || character === "'")) {
      index = source.indexOf(character, index + 1)
      if (index === -1) return source.length
    }
    isValue = character === '=' || (isValue && /\s/.test(character))
  }
  return source.length
}

const SCRIPT_MARK = /<!--|-->|<\/?script(?=[\s/>])/gi

/** A script that contains `<!--` and `<script` does not end at the next `</script>` ("script data double escaped"). */
export class ScriptEndFinder {
  readonly #source: string
  readonly #mark = new RegExp(SCRIPT_MARK)
  #state: 'plain' | 'escaped' | 'doubly escaped' = 'plain'

  /** @param start index of the first character of the script */
  constructor(source: string, start: number) {
    this.#source = source
    this.#mark.lastIndex = start
  }

  /** Whether the script ends with the closing tag at an index. Indexes rise from call to call. */
  endsAt(index: number): boolean {
    for (;;) {
      const start = this.#mark.lastIndex
      const match = start > index ? null : this.#mark.exec(this.#source)
      if (match === null || match.index > index) {
        this.#mark.lastIndex = start
        return true
      }
      const [mark] = match
      if (mark === '-->') this.#state = 'plain'
      else if (mark === '<!--') {
        if (this.#state === 'plain') this.#state = 'escaped'
        // `<!-->` is complete.
        this.#mark.lastIndex -= 2
      } else if (mark.startsWith('</')) {
        const isEnd = this.#state !== 'doubly escaped'
        if (!isEnd) this.#state = 'escaped'
        if (match.index === index) return isEnd
      } else if (this.#state === 'escaped') this.#state = 'doubly escaped'
    }
  }
}
