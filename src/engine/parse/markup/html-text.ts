/** Stands for `<br>` while white space is collapsed. */
const LINE_BREAK = '\v'

const TAB = 9
const RETURN = 13
const SPACE = 32

/** The text of a paragraph while its pieces go by. */
export class HtmlText {
  #text = ''
  #blank = true
  #hasBreaks = false
  #endsInBreak = false

  get length(): number {
    return this.#text.length
  }

  /** @param blank whether it is white space alone */
  add(text: string, blank: boolean): void {
    this.#text += text
    if (!blank) this.#blank = false
    else if (text !== LINE_BREAK) return
    this.#endsInBreak = blank
    if (blank) this.#hasBreaks = true
  }

  /** A line ends. @returns whether the paragraph does, since two lines ended in a row */
  breakLine(): boolean {
    if (this.#endsInBreak) return true
    this.add(LINE_BREAK, true)
    return false
  }

  /** Puts other words in the place of what came since. */
  replaceFrom(at: number, words: string): void {
    this.#text = this.#text.slice(0, at)
    this.add(words, false)
  }

  /** All of it as it was written. */
  takeRaw(): string {
    const text = this.#text
    this.#text = ''
    this.#blank = true
    this.#hasBreaks = false
    this.#endsInBreak = false
    return text
  }

  /** The paragraphs that it is, white space collapsed as in browsers. */
  take(): string[] {
    const blank = this.#blank
    const hasBreaks = this.#hasBreaks
    const raw = this.takeRaw()
    if (blank) return []
    if (!hasBreaks) {
      const text = raw.trim()
      return [isLoose(text) ? text.replace(/[ \t\n\v\f\r]{2,}|[\t\n\v\f\r]/g, ' ') : text]
    }
    return raw
      .replace(/[ \t\n\r\f]{2,}|[\t\n\r\f]/g, ' ')
      .replace(/ ?\v ?/g, LINE_BREAK)
      .split(/\v{2,}/)
      .map((part) => part.replaceAll(LINE_BREAK, '\n').trim())
      .filter((text) => text !== '')
  }
}

/** Whether some of the white space of a text is not a single space between words. */
function isLoose(text: string): boolean {
  let before = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code <= SPACE && ((code >= TAB && code <= RETURN) || (code === SPACE && before === SPACE))) return true
    before = code
  }
  return false
}
