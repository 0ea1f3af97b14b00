import type { Block } from '../parsed.js'
import type { Attributes } from './markup-events.js'

/** Ids of notes as Word, LibreOffice, pandoc, Markdown and e-books write them. */
const NOTE_ID =
  /^(?:user-content-)?_?(?:ftn|edn|fn|en|note|footnote|endnote|sdfootnote|sdendnote)[-_:.]?\d{1,5}(?:[-_:.]\d{1,5})?(?:sym)?$/i
/** Attribute values that mark a link to a note. */
const NOTE_LINK_MARK = /(?:^|\s)(?:noteref|doc-noteref|footnote|footnote-?ref|sdfootnoteanc|sdendnoteanc)(?:\s|$)/i
/** Text of such a link: a number, a letter or a sign. */
const NOTE_LABEL = /^[[(]?(?:\d{1,4}|[a-z]{1,4}|[*†‡§¶‖]{1,4})[\])]?$/i
/** Characters of links from the end of a note back to its text. */
const BACKLINK_CHARACTERS = new Set(' \n↑↩⏎⤴^\ufe0e\ufe0f')
/** Elements that contain the paragraphs of a note. */
const CONTAINER_ELEMENTS = new Set(['div', 'aside', 'section', 'dd'])
/** Maximum number of notes of one page; further ones stay in place. */
const MAX_NOTES = 5000

/** A note is a list item, an element with paragraphs, or the next paragraph. */
export interface Note {
  id: string
  /** name of its element */
  name: string
  kind: 'item' | 'holder' | 'paragraph'
}

/**
 * Footnotes and endnotes of a page: which block refers to which note, and the text of the notes. A note is placed after
 * the block that refers to it first, and at the end where that block no longer exists. The pages of a book share their
 * notes, which may be on a separate page after the references.
 */
export class HtmlNotes {
  readonly #labels = new Map<string, string>()
  readonly #texts = new Map<string, Block[]>()
  readonly #references = new Map<Block, string[]>()
  #pending: string[] = []
  #link: { id: string; label: string; offset: number } | undefined
  #holder: { name: string; depth: number } | undefined
  #paragraph: string | undefined
  #page = ''
  #pageOf: ((href: string) => string) | undefined
  #knownBefore = 0

  /** Begins the next page of a book. @param pageOf returns the page of an address, as pages are named here */
  beginPage(page: string, pageOf: (href: string) => string): void {
    this.#page = page
    this.#pageOf = pageOf
    this.#knownBefore = this.#labels.size
    this.#pending = []
    this.#link = undefined
    this.#holder = undefined
    this.#paragraph = undefined
  }

  /** Opens a link. @param offset length of its paragraph before it */
  openLink(attributes: Attributes, offset: number): void {
    this.#link = undefined
    const href = attributes.get('href') ?? ''
    const hash = href.indexOf('#')
    if (hash < 0 || (hash > 0 && this.#pageOf === undefined)) return
    if (this.#labels.size - this.#knownBefore >= MAX_NOTES) return
    const id = href.slice(hash + 1)
    const marks = ['role', 'epub:type', 'class', 'rel'].map((name) => attributes.get(name) ?? '').join(' ')
    if (!NOTE_ID.test(id) && !NOTE_LINK_MARK.test(marks)) return
    const page = hash === 0 ? this.#page : (this.#pageOf?.(href) ?? '')
    this.#link = { id: `${page}#${id}`, label: '', offset }
  }

  text(text: string): void {
    if (this.#link !== undefined && this.#link.label.length < 20) this.#link.label += text
  }

  /** @returns offset of a link to a note in its paragraph, and its replacement: the number in brackets */
  closeLink(): { offset: number; label: string } | undefined {
    const link = this.#link
    this.#link = undefined
    const label = link?.label.trim() ?? ''
    if (link === undefined || !NOTE_LABEL.test(label) || this.#texts.has(link.id)) return undefined
    const bracketed = /^[[(]/.test(label) ? label : `[${label}]`
    if (!this.#labels.has(link.id)) this.#labels.set(link.id, bracketed)
    this.#pending.push(link.id)
    return { offset: link.offset, label: bracketed }
  }

  /** The note that an element is, if it was referred to. */
  matchNote(name: string, attributes: Attributes): Note | undefined {
    if (this.#labels.size === 0) return undefined
    if (this.#holder?.name === name) this.#holder.depth++
    const elementId = attributes.get('id') ?? (name === 'a' ? attributes.get('name') : undefined)
    if (elementId === undefined) return undefined
    const id = `${this.#page}#${elementId}`
    if (!this.#labels.has(id) || this.#texts.has(id)) return undefined
    if (this.#holder !== undefined || /^h[1-6]$/.test(name)) return undefined
    return { id, name, kind: name === 'li' ? 'item' : CONTAINER_ELEMENTS.has(name) ? 'holder' : 'paragraph' }
  }

  /** Begins a note, after the content before it was ended. */
  beginNote({ id, name, kind }: Note): void {
    this.#texts.set(id, [])
    if (kind === 'holder') this.#holder = { name, depth: 1 }
    if (kind === 'paragraph') this.#paragraph = id
  }

  /** Whether a closing tag ends the element of the open note. */
  closesNote(name: string): boolean {
    if (this.#holder?.name !== name || --this.#holder.depth > 0) return false
    this.#holder = undefined
    return true
  }

  /** Adds a block of text. @returns whether it is a note, which is placed elsewhere */
  addBlock(block: Block): boolean {
    if (this.#paragraph !== undefined) {
      this.#texts.get(this.#paragraph)?.push(block)
      this.#paragraph = undefined
      return true
    }
    if (this.#pending.length > 0) this.#references.set(block, this.#pending)
    this.#pending = []
    return false
  }

  /** Adds the blocks in the element of a note. */
  addNoteBlocks(id: string, blocks: readonly Block[]): void {
    this.#texts.get(id)?.push(...blocks)
  }

  /** Moves references when blocks become a table or list. */
  moveReferences(inside: readonly Block[], replacement: Block | undefined): void {
    if (this.#references.size === 0 || replacement === undefined) return
    const ids = inside.flatMap((block) => this.#references.get(block) ?? [])
    if (ids.length > 0) this.#references.set(replacement, [...(this.#references.get(replacement) ?? []), ...ids])
  }

  /** The blocks of the page with the notes in their final positions. */
  placeNotes(blocks: readonly Block[]): Block[] {
    if (this.#texts.size === 0) return [...blocks]
    const result: Block[] = []
    for (const block of blocks) {
      result.push(block)
      for (const id of this.#references.get(block) ?? []) result.push(...this.#takeNote(id))
    }
    for (const id of this.#texts.keys()) result.push(...this.#takeNote(id))
    return result
  }

  #takeNote(id: string): Block[] {
    const noteBlocks = this.#texts.get(id) ?? []
    // The link back may be at the end of any paragraph, or a separate one.
    const blocks = noteBlocks
      .map((block) => (block.type === 'code' ? block : { ...block, text: removeBacklink(block.text) }))
      .filter(({ text, picture }) => text !== '' || picture !== undefined)
    this.#texts.set(id, [])
    const label = this.#labels.get(id) ?? ''
    return blocks.map((block, index) => {
      const text = index === 0 ? addLabel(label, block.text) : block.text
      return { ...block, text, metadata: { ...block.metadata, role: 'footnote' } }
    })
  }
}

function removeBacklink(text: string): string {
  let end = text.length
  while (end > 0 && BACKLINK_CHARACTERS.has(text.charAt(end - 1))) end--
  return text.slice(0, end)
}

/** Begins a note with its number, also where it came from a list. */
function addLabel(label: string, text: string): string {
  const number = label.slice(1, -1)
  const body = text.replace(/^[\s↑↩^]{1,10}/u, '')
  for (const start of [label, number])
    if (body.startsWith(start) && !/^[\p{L}\p{N}]/u.test(body.slice(start.length)))
      return `${label} ${body.slice(start.length).replace(/^[\s.):]+/, '')}`
  return `${label} ${body}`
}
