import type { Attributes } from './markup-events.js'

/** Class names and ids of the line that names the author. */
const BYLINE_NAME = /byline|author|dateline|writtenby|p-author/i
const MAX_BYLINE_LENGTH = 100
/** Words before the name of the author. */
const BYLINE_PREFIX =
  /^(?:(?:written|posted|published|story|words|text|reported|created)\s+)?(?:by|von|par|por|door|af|av)\b[\s:]*/i

/** An element with its text, and the number of open elements of its name within it, itself included. */
interface CollectedElement {
  name: string
  depth: number
  text: string
}

/** Collects the text of the first element that is marked as the author of the page. */
export class BylineReader {
  #open: CollectedElement | undefined
  /** The marked name within it. */
  #nameElement: CollectedElement | undefined
  byline: string | undefined

  open(name: string, attributes: Attributes): void {
    if (this.byline !== undefined) return
    if (this.#open === undefined) {
      if (attributes.isEmpty || name === 'body' || name === 'html' || !isByline(attributes)) return
      this.#open = { name, depth: 1, text: '' }
      return
    }
    if (name === this.#open.name) this.#open.depth++
    if (this.#nameElement?.name === name) this.#nameElement.depth++
    else if (this.#nameElement === undefined && attributes.get('itemprop')?.includes('name') === true)
      this.#nameElement = { name, depth: 1, text: '' }
  }

  text(text: string): void {
    if (this.#open === undefined) return
    if (this.#open.text.length <= MAX_BYLINE_LENGTH * 10) this.#open.text += text
    if (this.#nameElement !== undefined && this.#nameElement.depth > 0) this.#nameElement.text += text
  }

  close(name: string): void {
    const open = this.#open
    if (open === undefined) return
    if (this.#nameElement?.name === name && this.#nameElement.depth > 0) this.#nameElement.depth--
    if (name !== open.name || --open.depth > 0) return
    const text = (this.#nameElement?.text ?? open.text).replace(/\s+/g, ' ').trim()
    this.#open = undefined
    this.#nameElement = undefined
    if (text !== '' && text.length < MAX_BYLINE_LENGTH) this.byline = text.replace(BYLINE_PREFIX, '')
  }
}

function isByline(attributes: Attributes): boolean {
  const names = attributes.get('class')
  if (names !== undefined && BYLINE_NAME.test(names)) return true
  const id = attributes.get('id')
  if (id !== undefined && BYLINE_NAME.test(id)) return true
  return attributes.get('rel') === 'author' || attributes.get('itemprop')?.includes('author') === true
}
