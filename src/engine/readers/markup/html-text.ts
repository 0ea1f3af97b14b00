/** Represents `<br>` while white space is collapsed. */
const LINE_BREAK = '\v'

const TAB = 9
const RETURN = 13
const SPACE = 32

/** Collects the text of a paragraph. */
export class HtmlText {
  #text = ''
  #isBlank = true
  #hasBreaks = false
  #endsInBreak = false

  get length(): number {
    return this.#text.length
  }

  /** @param kind `blank`: only white space */
  add(text: string, kind: 'blank' | 'words'): void {
    this.#text += text
    if (kind === 'words') this.#isBlank = false
    else if (text !== LINE_BREAK) return
    this.#endsInBreak = kind === 'blank'
    if (kind === 'blank') this.#hasBreaks = true
  }

  /** Ends a line. @returns whether the paragraph ends, because two lines ended in a row */
  breakLine(): boolean {
    if (this.#endsInBreak) return true
    this.add(LINE_BREAK, 'blank')
    return false
  }

  /** Replaces the text from an offset on. */
  replaceFrom(start: number, words: string): void {
    this.#text = this.#text.slice(0, start)
    this.add(words, 'words')
  }

  /** Takes the text with its white space. */
  takeRaw(): string {
    const text = this.#text
    this.#text = ''
    this.#isBlank = true
    this.#hasBreaks = false
    this.#endsInBreak = false
    return text
  }

  /** Takes the text as paragraphs, with white space collapsed as in browsers. */
  takeParagraphs(): string[] {
    const isBlank = this.#isBlank
    const hasBreaks = this.#hasBreaks
    const raw = this.takeRaw()
    if (isBlank) return []
    if (!hasBreaks) {
      const text = raw.trim()
      return [hasLooseSpaces(text) ? text.replace(/[ \t\n\v\f\r]{2,}|[\t\n\v\f\r]/g, ' ') : text]
    }
    return raw
      .replace(/[ \t\n\r\f]{2,}|[\t\n\r\f]/g, ' ')
      .replace(/ ?\v ?/g, LINE_BREAK)
      .split(/\v{2,}/)
      .map((part) => part.replaceAll(LINE_BREAK, '\n').trim())
      .filter((text) => text !== '')
  }
}

/** Whether a text has white space other than single spaces between words. */
function hasLooseSpaces(text: string): boolean {
  let previous = 0
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code <= SPACE && ((code >= TAB && code <= RETURN) || (code === SPACE && previous === SPACE))) return true
    previous = code
  }
  return false
}
