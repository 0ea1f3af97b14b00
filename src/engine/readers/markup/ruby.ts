import type { Attributes, MarkupHandler } from './markup-events.js'

const RUBY_ELEMENTS = new Set(['ruby', 'rb', 'rt', 'rp', 'rtc', 'rbc'])
/** Readings are short; one that is longer than this is text. */
const MAX_READING_LENGTH = 500

/**
 * Puts readings of characters after the words that they belong to, `漢字(かんじ)`: a reading above each character would
 * split the word, and search would find neither.
 */
export class RubyText implements MarkupHandler {
  readonly #inner: MarkupHandler
  #base = ''
  #reading = ''
  #open = false
  #part: 'base' | 'reading' | 'dropped' = 'base'

  constructor(inner: MarkupHandler) {
    this.#inner = inner
  }

  open(name: string, attributes: Attributes): void {
    if (!RUBY_ELEMENTS.has(name)) {
      if (!this.#open) this.#flush()
      // Within a word there are only layout tags, which readers do not see.
      if (!this.#open) this.#inner.open(name, attributes)
      return
    }
    this.#open = true
    this.#part = name === 'rt' || name === 'rtc' ? 'reading' : name === 'rp' ? 'dropped' : 'base'
  }

  close(name: string): void {
    if (!RUBY_ELEMENTS.has(name)) {
      if (this.#open && /^(?:p|div|td|li|h[1-6]|body|html)$/.test(name)) this.#open = false
      if (this.#open) return
      this.#flush()
      this.#inner.close(name)
    } else if (name === 'ruby') this.#open = false
    else this.#part = 'base'
  }

  text(text: string): void {
    if (!this.#open) {
      this.#flush()
      this.#inner.text(text)
    } else if (this.#part === 'base') this.#base += text
    else if (this.#part === 'reading') this.#reading += text.trim()
    if (this.#base.length + this.#reading.length > MAX_READING_LENGTH) this.#flush()
  }

  finish(): void {
    this.#open = false
    this.#flush()
  }

  #flush(): void {
    if (this.#base !== '' || this.#reading !== '') this.#inner.text(joinReading(this.#base, this.#reading))
    this.#base = ''
    this.#reading = ''
  }
}

/** Joins a word with its reading. */
export function joinReading(base: string, reading: string): string {
  const word = base.replace(/\s+/g, '')
  if (reading === '' || reading === word) return base
  return word === '' ? reading : `${word}(${reading})`
}
