import type { Block } from '../parsed.js'
import type { Attributes } from './markup-events.js'

/** Names of the places of notes, as Word, LibreOffice, pandoc, Markdown and e-books write them. */
const NOTE =
  /^(?:user-content-)?_?(?:ftn|edn|fn|en|note|footnote|endnote|sdfootnote|sdendnote)[-_:.]?\d{1,5}(?:[-_:.]\d{1,5})?(?:sym)?$/i
/** What says of a link that it leads to a note. */
const SAID = /(?:^|\s)(?:noteref|doc-noteref|footnote|footnote-?ref|sdfootnoteanc|sdendnoteanc)(?:\s|$)/i
/** What such a link shows: a number, a letter or a sign. */
const LABEL = /^[[(]?(?:\d{1,4}|[a-z]{1,4}|[*†‡§¶‖]{1,4})[\])]?$/i
/** Ways back from a note to its text, at the end of it. */
const WAY_BACK = new Set(' \n↑↩⏎⤴^\ufe0e\ufe0f')
/** Elements that hold paragraphs of a note. */
const HOLDERS = new Set(['div', 'aside', 'section', 'dd'])
/** Notes that one page refers to; the others stay where they are. */
const MAX_NOTES = 5000

/** A note is an item of a list, an element with paragraphs, or the next paragraph. */
export interface Note {
  id: string
  /** of its element */
  name: string
  kind: 'item' | 'holder' | 'paragraph'
}

/**
 * Foot- and endnotes of a page: which block refers to which, and what they say. A note stands behind the block that refers to
 * it first, and at the end where none does any more. The pages of a book share theirs: notes may stand in a page of their own,
 * behind those that refer to them.
 */
export class HtmlNotes {
  readonly #labels = new Map<string, string>()
  readonly #texts = new Map<string, Block[]>()
  readonly #references = new Map<Block, string[]>()
  #pending: string[] = []
  #link: { id: string; label: string; at: number } | undefined
  #holder: { name: string; depth: number } | undefined
  #paragraph: string | undefined
  #page = ''
  #pageOf: ((href: string) => string) | undefined
  #knownBefore = 0

  /** The next page of a book begins. @param pageOf which page an address leads to, as pages are called here */
  enter(page: string, pageOf: (href: string) => string): void {
    this.#page = page
    this.#pageOf = pageOf
    this.#knownBefore = this.#labels.size
    this.#pending = []
    this.#link = undefined
    this.#holder = undefined
    this.#paragraph = undefined
  }

  /** A link opens. @param at how much of its paragraph stands before it */
  openLink(attributes: Attributes, at: number): void {
    this.#link = undefined
    const href = attributes.get('href') ?? ''
    const hash = href.indexOf('#')
    if (hash < 0 || (hash > 0 && this.#pageOf === undefined)) return
    if (this.#labels.size - this.#knownBefore >= MAX_NOTES) return
    const id = href.slice(hash + 1)
    const words = ['role', 'epub:type', 'class', 'rel'].map((name) => attributes.get(name) ?? '').join(' ')
    if (!NOTE.test(id) && !SAID.test(words)) return
    const page = hash === 0 ? this.#page : (this.#pageOf?.(href) ?? '')
    this.#link = { id: `${page}#${id}`, label: '', at }
  }

  text(text: string): void {
    if (this.#link !== undefined && this.#link.label.length < 20) this.#link.label += text
  }

  /** @returns where in its paragraph a link to a note began, and what stands there: its number in brackets */
  closeLink(): { at: number; label: string } | undefined {
    const link = this.#link
    this.#link = undefined
    const label = link?.label.trim() ?? ''
    if (link === undefined || !LABEL.test(label) || this.#texts.has(link.id)) return undefined
    const shown = /^[[(]/.test(label) ? label : `[${label}]`
    if (!this.#labels.has(link.id)) this.#labels.set(link.id, shown)
    this.#pending.push(link.id)
    return { at: link.at, label: shown }
  }

  /** Whether an element is a note that was referred to. */
  opens(name: string, attributes: Attributes): Note | undefined {
    if (this.#labels.size === 0) return undefined
    if (this.#holder?.name === name) this.#holder.depth++
    const own = attributes.get('id') ?? (name === 'a' ? attributes.get('name') : undefined)
    if (own === undefined) return undefined
    const id = `${this.#page}#${own}`
    if (!this.#labels.has(id) || this.#texts.has(id)) return undefined
    if (this.#holder !== undefined || /^h[1-6]$/.test(name)) return undefined
    return { id, name, kind: name === 'li' ? 'item' : HOLDERS.has(name) ? 'holder' : 'paragraph' }
  }

  /** What comes now is a note, as the end of what stands before it was told. */
  begin({ id, name, kind }: Note): void {
    this.#texts.set(id, [])
    if (kind === 'holder') this.#holder = { name, depth: 1 }
    if (kind === 'paragraph') this.#paragraph = id
  }

  /** Whether the element closes that holds the open note. */
  closes(name: string): boolean {
    if (this.#holder?.name !== name || --this.#holder.depth > 0) return false
    this.#holder = undefined
    return true
  }

  /** A block of text was made. @returns whether it is a note, which has no place of its own */
  takes(block: Block): boolean {
    if (this.#paragraph !== undefined) {
      this.#texts.get(this.#paragraph)?.push(block)
      this.#paragraph = undefined
      return true
    }
    if (this.#pending.length > 0) this.#references.set(block, this.#pending)
    this.#pending = []
    return false
  }

  /** What stands in the element of a note. */
  keep(id: string, blocks: readonly Block[]): void {
    this.#texts.get(id)?.push(...blocks)
  }

  /** A table or list took the place of blocks. */
  replaced(inside: readonly Block[], by: Block | undefined): void {
    if (this.#references.size === 0 || by === undefined) return
    const ids = inside.flatMap((block) => this.#references.get(block) ?? [])
    if (ids.length > 0) this.#references.set(by, [...(this.#references.get(by) ?? []), ...ids])
  }

  /** The blocks of the page with its notes at their places. */
  placed(blocks: readonly Block[]): Block[] {
    if (this.#texts.size === 0) return [...blocks]
    const placed: Block[] = []
    for (const block of blocks) {
      placed.push(block)
      for (const id of this.#references.get(block) ?? []) placed.push(...this.#take(id))
    }
    for (const id of this.#texts.keys()) placed.push(...this.#take(id))
    return placed
  }

  #take(id: string): Block[] {
    const found = this.#texts.get(id) ?? []
    // the way back stands behind any of its paragraphs, or in one of its own
    const blocks = found
      .map((block) => (block.type === 'code' ? block : { ...block, text: withoutWayBack(block.text) }))
      .filter(({ text, picture }) => text !== '' || picture !== undefined)
    this.#texts.set(id, [])
    const label = this.#labels.get(id) ?? ''
    return blocks.map((block, place) => {
      const text = place === 0 ? labelled(label, block.text) : block.text
      return { ...block, text, metadata: { ...block.metadata, role: 'footnote' } }
    })
  }
}

function withoutWayBack(text: string): string {
  let end = text.length
  while (end > 0 && WAY_BACK.has(text.charAt(end - 1))) end--
  return text.slice(0, end)
}

/** A note begins with its number, also where a list gave it. */
function labelled(label: string, text: string): string {
  const bare = label.slice(1, -1)
  const own = text.replace(/^[\s↑↩^]{1,10}/u, '')
  for (const start of [label, bare])
    if (own.startsWith(start) && !/^[\p{L}\p{N}]/u.test(own.slice(start.length)))
      return `${label} ${own.slice(start.length).replace(/^[\s.):]+/, '')}`
  return `${label} ${own}`
}
