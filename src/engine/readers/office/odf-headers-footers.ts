import { DroppedElementTracker } from '../markup/dropped-element.js'
import { type Attributes, type MarkupHandler, readMarkup } from '../markup/markup-events.js'
import type { Block } from '../parsed.js'

/** Fields whose text differs from page to page. */
const PAGE_FIELDS = /^text:(?:page-number|page-count|sheet-name|date|time|file-name|title|page-continuation)$/
/** A line with a field is kept when it has at least this many letters, more than `Page 1 of 2`. */
const MIN_LETTERS_WITH_FIELD = 12
const MAX_LINES = 200

/**
 * Headers and footers of an OpenDocument text or spreadsheet, each line once. @param seen texts of its body; lines are
 * added
 */
export function parseOdfHeadersAndFooters(xml: string, seen: Set<string>): Block[] {
  const reader = new HeaderFooterReader(seen)
  readMarkup(xml, reader, 'xml')
  return reader.blocks
}

class HeaderFooterReader implements MarkupHandler {
  readonly blocks: Block[] = []
  readonly #seen: Set<string>
  readonly #dropped = new DroppedElementTracker()
  #role: 'header' | 'footer' | undefined
  #text: string | undefined
  #hasField = false

  constructor(seen: Set<string>) {
    this.#seen = seen
  }

  open(name: string, attributes: Attributes): void {
    const isField = PAGE_FIELDS.test(name)
    if (isField) this.#hasField = true
    if (this.#dropped.open(name, isField)) return
    const role = /^style:(header|footer)(?:-left|-first)?$/.exec(name)?.[1]
    if (role !== undefined) {
      const isShown = attributes.get('style:display') !== 'false'
      this.#role = !isShown ? undefined : role === 'header' ? 'header' : 'footer'
    } else if (this.#role !== undefined && (name === 'text:p' || name === 'text:h')) {
      this.#text = ''
      this.#hasField = false
    } else if (name === 'text:s' || name === 'text:tab' || name === 'text:line-break') this.text(' ')
  }

  close(name: string): void {
    if (this.#dropped.close(name)) return
    if (name === 'text:p' || name === 'text:h') this.#line()
    else if (/^style:(?:header|footer)/.test(name)) this.#role = undefined
  }

  text(text: string): void {
    if (!this.#dropped.isActive && this.#text !== undefined && this.#text.length < 10_000) this.#text += text
  }

  #line(): void {
    const text = (this.#text ?? '').replace(/\s+/g, ' ').trim()
    this.#text = undefined
    if (text === '' || this.#role === undefined || this.#seen.has(text) || this.blocks.length >= MAX_LINES) return
    if (this.#hasField && text.replace(/[^\p{L}]/gu, '').length < MIN_LETTERS_WITH_FIELD) return
    this.#seen.add(text)
    this.blocks.push({ type: 'paragraph', text, metadata: { role: this.#role } })
  }
}
