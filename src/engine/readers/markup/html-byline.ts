import type { Attributes } from './markup-events.js'

/** Class names and ids of the line that names the author. */
const BYLINE_NAME = /byline|author|dateline|writtenby|p-author/i
const MAX_BYLINE_LENGTH = 100
const BY =
  /^(?:(?:written|posted|published|story|words|text|reported|created)\s+)?(?:by|von|par|por|door|af|av)\b[\s:]*/i

/** Collects the text of the first element that is marked as the author of the page. */
export class BylineReader {
  #open: { name: string; depth: number; text: string } | undefined
  #name: { name: string; depth: number; text: string } | undefined
  #byline: string | undefined

  get byline(): string | undefined {
    return this.#byline
  }

  open(name: string, attributes: Attributes): void {
    if (this.#byline !== undefined) return
    if (this.#open === undefined) {
      if (attributes.isEmpty || name === 'body' || name === 'html' || !isByline(attributes)) return
      this.#open = { name, depth: 1, text: '' }
      return
    }
    if (name === this.#open.name) this.#open.depth++
    if (this.#name !== undefined && name === this.#name.name) this.#name.depth++
    else if (this.#name === undefined && attributes.get('itemprop')?.includes('name') === true)
      this.#name = { name, depth: 1, text: '' }
  }

  text(text: string): void {
    if (this.#open === undefined) return
    if (this.#open.text.length <= MAX_BYLINE_LENGTH * 10) this.#open.text += text
    if (this.#name !== undefined && this.#name.depth > 0) this.#name.text += text
  }

  close(name: string): void {
    const open = this.#open
    if (open === undefined) return
    if (this.#name?.name === name && this.#name.depth > 0) this.#name.depth--
    if (name !== open.name || --open.depth > 0) return
    const text = (this.#name?.text ?? open.text).replace(/\s+/g, ' ').trim()
    this.#open = undefined
    this.#name = undefined
    if (text !== '' && text.length < MAX_BYLINE_LENGTH) this.#byline = text.replace(BY, '')
  }
}

function isByline(attributes: Attributes): boolean {
  const names = attributes.get('class')
  if (names !== undefined && BYLINE_NAME.test(names)) return true
  const id = attributes.get('id')
  if (id !== undefined && BYLINE_NAME.test(id)) return true
  return attributes.get('rel') === 'author' || attributes.get('itemprop')?.includes('author') === true
}
