import { lettersOf } from '../implied-headings.js'
import { addLook, emptyLook, type Look } from '../looks.js'
import type { Block } from '../parsed.js'

/** Minimum number of links within the page for a table of contents. */
const MIN_ENTRIES = 4
const MAX_ENTRIES = 2000
/** A heading is at the target of its link, or within this many blocks after it. */
const NEAR = 4

/** Records ids, links and styles of a page, for the outline of one that marks no headings. */
export class HtmlPlaces {
  readonly looks = new Map<Block, Look>()
  readonly #ids = new Map<string, Block | undefined>()
  readonly #entries = new Map<string, string>()
  readonly #names = new Map<Block, string[]>()
  #waiting: string[] = []
  #link: string | undefined

  /** Adds an id; the next block gets it. */
  named(id: string | undefined): void {
    if (id !== undefined && id !== '' && this.#waiting.length < MAX_ENTRIES) this.#waiting.push(id)
  }

  link(href: string | undefined): void {
    this.#link = href?.startsWith('#') === true && href.length > 1 ? href.slice(1) : undefined
  }

  text(text: string): void {
    if (this.#link === undefined) return
    const known = this.#entries.get(this.#link)
    if (known === undefined && this.#entries.size >= MAX_ENTRIES) return
    if ((known?.length ?? 0) < 400) this.#entries.set(this.#link, `${known ?? ''} ${text}`)
  }

  /** Records a block of text. */
  made(block: Block, look: Look): void {
    this.looks.set(block, look)
    if (this.#waiting.length === 0) return
    const names = this.#waiting.filter((id) => !this.#ids.has(id))
    this.#waiting = []
    this.#name(names, block)
  }

  /** Moves ids and styles when blocks become a table or list. */
  replaced(inside: readonly Block[], by: Block | undefined): void {
    if (by !== undefined) {
      const all = emptyLook()
      for (const block of inside) {
        const look = this.looks.get(block)
        if (look !== undefined) addLook(all, look)
      }
      this.looks.set(by, all)
    }
    if (this.#names.size === 0) return
    const names = inside.flatMap((block) => this.#names.get(block) ?? [])
    if (names.length > 0) this.#name(names, by)
  }

  #name(names: string[], block: Block | undefined): void {
    for (const id of names) this.#ids.set(id, block)
    if (block !== undefined) this.#names.set(block, names)
  }

  /** The blocks that the page's table of contents links to, with the texts of its entries. */
  listed(blocks: readonly Block[]): Map<number, string> {
    const listed = new Map<number, string>()
    if (this.#entries.size < MIN_ENTRIES) return listed
    const places = new Map(blocks.map((block, place) => [block, place]))
    for (const [id, words] of this.#entries) {
      const block = this.#ids.get(id)
      const place = block === undefined ? undefined : places.get(block)
      const title = lettersOf(words.replace(/[\s\d]+$/, ''))
      if (place === undefined || title.length < 4) continue
      for (let at = place; at < Math.min(place + NEAR, blocks.length); at++) {
        const found = lettersOf(blocks[at]?.text ?? '')
        if (found.length < 4 || found.length > 300 || !agrees(title, found)) continue
        listed.set(at, words)
        break
      }
    }
    return listed
  }
}

function agrees(title: string, found: string): boolean {
  return (
    title === found ||
    (found.length >= 6 && title.endsWith(found)) ||
    (title.length >= 6 && found.startsWith(title) && found.length < title.length * 2)
  )
}
