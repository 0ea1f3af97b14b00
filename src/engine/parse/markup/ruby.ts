import type { Attributes, MarkupHandler } from './markup-events.js'

const RUBY = new Set(['ruby', 'rb', 'rt', 'rp', 'rtc', 'rbc'])
/** Readings are short; what never ends is text. */
const MAX_READING = 500

/**
 * Puts readings of characters behind the words that they belong to, `漢字(かんじ)`: written above each character they
 * would part the word, and neither it nor its reading would be found.
 */
export class RubyText implements MarkupHandler {
  readonly #inner: MarkupHandler
  #base = ''
  #reading = ''
  #open = false
  #inside: 'base' | 'reading' | 'dropped' = 'base'

  constructor(inner: MarkupHandler) {
    this.#inner = inner
  }

  open(name: string, attributes: Attributes): void {
    if (!RUBY.has(name)) {
      if (!this.#open) this.#flush()
      // within a word only what looks may stand, and readers do not see it
      if (!this.#open) this.#inner.open(name, attributes)
      return
    }
    this.#open = true
    this.#inside = name === 'rt' || name === 'rtc' ? 'reading' : name === 'rp' ? 'dropped' : 'base'
  }

  close(name: string): void {
    if (!RUBY.has(name)) {
      if (this.#open && /^(?:p|div|td|li|h[1-6]|body|html)$/.test(name)) this.#open = false
      if (this.#open) return
      this.#flush()
      this.#inner.close(name)
    } else if (name === 'ruby') this.#open = false
    else this.#inside = 'base'
  }

  text(text: string): void {
    if (!this.#open) {
      this.#flush()
      this.#inner.text(text)
    } else if (this.#inside === 'base') this.#base += text
    else if (this.#inside === 'reading') this.#reading += text.trim()
    if (this.#base.length + this.#reading.length > MAX_READING) this.#flush()
  }

  finish(): void {
    this.#open = false
    this.#flush()
  }

  #flush(): void {
    if (this.#base !== '' || this.#reading !== '') this.#inner.text(withReading(this.#base, this.#reading))
    this.#base = ''
    this.#reading = ''
  }
}

/** A word with its reading. */
export function withReading(base: string, reading: string): string {
  const word = base.replace(/\s+/g, '')
  if (reading === '' || reading === word) return base
  return word === '' ? reading : `${word}(${reading})`
}
