import { omitUndefined } from '../../../lib/omit-undefined.js'
import { markImpliedHeadings } from '../block-styles.js'
import type { Block, ParsedDocument, Picture } from '../parsed.js'
import { parsePictureSource } from '../pictures.js'
import { readProseBlocks } from '../text/text.js'
import { DroppedElementTracker } from './dropped-element.js'
import {
  BREAKING_ELEMENTS,
  CONTENT_START_ELEMENTS,
  DROPPED_ELEMENTS,
  getCodeLanguage,
  getSpans,
  HEADING_ELEMENTS,
  isLayoutTable,
  isMathCopy,
  MAX_PRE_CODE_LINES,
} from './html-elements.js'
import { chooseTitle, HtmlFields } from './html-fields.js'
import { closeList, closeTable, type HtmlFrame, MAX_FRAMES, type TablePurpose } from './html-frames.js'
import { HtmlNotes, type Note } from './html-notes.js'
import { HtmlOutlineTracker } from './html-outline.js'
import { ImageReader, moveRepeatedDescriptions } from './html-pictures.js'
import { HtmlStyleTracker } from './html-style.js'
import { HtmlText } from './html-text.js'
import { type Attributes, type MarkupHandler, type MarkupSyntax, readMarkup } from './markup-events.js'
import { RubyText } from './ruby.js'

/** The title of a page is among its first headings. */
const MAX_TITLE_HEADINGS = 10
/** With at least this much other text (in characters), a page is read without its navigation. */
const MIN_CONTENT_LENGTH = 200

export interface HtmlOptions {
  /** picture of an image's `src`; default: its address or its `data:` bytes */
  picture?: (source: string) => Picture | undefined
  /** XHTML: `<title/>` is empty, not open */
  xhtml?: boolean
  /** purpose of tables that are not marked; default: unknown */
  tables?: TablePurpose
  /** notes of the book that contains the page, which places them */
  notes?: HtmlNotes
}

/** Reads blocks, title and language of a page. Drops scripts, styles, form controls and, if there is text, navigation. */
export function readHtml(source: string, options: HtmlOptions = {}): Omit<ParsedDocument, 'parser' | 'contentType'> {
  const reader = new HtmlReader(options)
  feedReader(reader, source, options.xhtml === true ? 'xhtml' : 'html')
  return reader.finish()
}

export function feedReader(reader: MarkupHandler, source: string, syntax: MarkupSyntax): void {
  const ruby = source.includes('<ruby') ? new RubyText(reader) : undefined
  readMarkup(source, ruby ?? reader, syntax)
  ruby?.finish()
}

export class HtmlReader {
  readonly #images: ImageReader
  readonly #root: Block[] = []
  readonly #frames: HtmlFrame[] = [{ kind: 'root', blocks: this.#root }]
  readonly #navigation = new Set<Block>()
  readonly #fields = new HtmlFields()
  readonly #style: HtmlStyleTracker
  readonly outline = new HtmlOutlineTracker()
  readonly #notes: HtmlNotes
  readonly #isOfBook: boolean
  readonly #tables: TablePurpose
  readonly #text = new HtmlText()
  #heading = 0
  readonly #dropped = new DroppedElementTracker()
  #navigationDepth = 0
  #pre: { language: string; code: boolean } | undefined
  #inTitle = false
  #inCaption = false
  #isAfterMath = false
  #title: string | undefined
  #language: string | undefined

  /** @param options `withAreas`: the areas of its blocks are needed */
  constructor({ withAreas = false, ...options }: HtmlOptions & { withAreas?: boolean }) {
    this.#style = new HtmlStyleTracker({ withAreas })
    this.#images = new ImageReader(options.picture ?? parsePictureSource)
    this.#notes = options.notes ?? new HtmlNotes()
    this.#isOfBook = options.notes !== undefined
    this.#tables = options.tables ?? 'unknown'
  }

  get isArticle(): boolean {
    return this.#fields.isArticle
  }

  text(text: string): void {
    if (this.#dropped.isActive) {
      this.#fields.addDroppedText(text)
      this.#style.addDroppedText(text)
    } else if (this.#inTitle) this.#title = `${this.#title ?? ''}${text}`.slice(0, 1000)
    else this.#addText(text)
  }

  open(name: string, attributes: Attributes): void {
    this.#fields.open(name, attributes)
    this.#style.open(name, attributes)
    const isCopy = isMathCopy(name, attributes, { isAfterMath: this.#isAfterMath })
    if (this.#dropped.open(name, DROPPED_ELEMENTS.has(name) || isCopy)) return
    const note = this.#notes.matchNote(name, attributes)
    if (this.#pre !== undefined) this.#openInPre(name, attributes)
    else if (HEADING_ELEMENTS.has(name)) {
      this.#endParagraph()
      if (CONTENT_START_ELEMENTS.has(name)) this.#navigationDepth = 0
      this.#heading = Number(name.charAt(1))
    } else if (BREAKING_ELEMENTS.has(name)) {
      this.#endParagraph()
      if (CONTENT_START_ELEMENTS.has(name)) this.#navigationDepth = 0
      if (name === 'nav') this.#navigationDepth++
      this.#inCaption = name === 'figcaption'
      if (name === 'html') this.#language = attributes.get('lang') ?? attributes.get('xml:lang')
    } else this.#openOther(name, attributes)
    if (name === 'a') {
      this.outline.setLink(attributes.get('href'))
      this.#notes.openLink(attributes, this.#text.length)
    }
    if (note !== undefined) this.#openNote(note)
    this.outline.addId(attributes.get('id') ?? (name === 'a' ? attributes.get('name') : undefined))
  }

  close(name: string): void {
    this.#fields.close(name)
    this.#style.close(name)
    if (name === 'a') this.#closeLink()
    if (this.#dropped.close(name)) return
    if (this.#notes.closesNote(name)) this.#pop('note')
    if (name === 'math') this.#isAfterMath = true
    if (name === 'title') this.#inTitle = false
    else if (this.#pre !== undefined) {
      if (name === 'pre') this.#closePre()
    } else if (HEADING_ELEMENTS.has(name)) {
      this.#endParagraph()
      this.#heading = 0
    } else if (name === 'table' || name === 'ul' || name === 'ol') this.#pop(name === 'table' ? 'table' : 'list')
    else if (name === 'tr') this.#pop('row', 'table')
    else if (name === 'td' || name === 'th') this.#pop('cell', 'table')
    else if (name === 'li') this.#pop('item', 'list', 'table')
    else if (BREAKING_ELEMENTS.has(name)) {
      this.#endParagraph()
      if (name === 'figcaption') this.#inCaption = false
      if (name === 'nav' && this.#navigationDepth > 0) this.#navigationDepth--
    }
  }

  #addText(text: string): void {
    const letters = text.trim().length
    this.#text.add(text, letters === 0 ? 'blank' : 'words')
    if (letters > 0) {
      this.#style.text(letters)
      this.#isAfterMath = false
    }
    this.outline.text(text)
    this.#notes.text(text)
    this.#fields.text(text)
  }

  finish(): Omit<ParsedDocument, 'parser' | 'contentType'> {
    if (this.#pre !== undefined) this.#closePre()
    this.#endParagraph()
    while (this.#frames.length > 1) this.#popTop()
    const fields = this.#fields.finish()
    const content = this.#root.filter((block) => !this.#navigation.has(block))
    const length = content.reduce((sum, { text }) => sum + text.length, 0)
    const blocks = length >= MIN_CONTENT_LENGTH ? content : this.#root
    const headings = blocks
      .filter(({ type, level = 1 }) => type === 'heading' && level <= 2)
      .slice(0, MAX_TITLE_HEADINGS)
      .map(({ text }) => text)
    const listed = this.outline.findListedBlocks(blocks)
    markImpliedHeadings(blocks, this.outline.styles, (index) => listed.has(index))
    const title = chooseTitle(this.#title, fields, headings)
    moveRepeatedDescriptions(blocks, title)
    return {
      blocks: this.#isOfBook ? blocks : this.#notes.placeNotes(blocks),
      leftOut: blocks === content ? [...this.#navigation] : [],
      metadata: fields.metadata,
      declared: fields.declared,
      ...omitUndefined({ title, language: this.#language ?? fields.language }),
    }
  }

  #openOther(name: string, attributes: Attributes): void {
    if (name === 'br') {
      if (this.#text.breakLine()) this.#endParagraph()
    } else if (name === 'img') this.#image(attributes)
    else if (name === 'title' && this.#title === undefined) this.#inTitle = true
    else if (name === 'pre') this.#openPre(attributes)
    else if (name === 'table')
      this.#push({ kind: 'table', rows: [], purpose: isLayoutTable(attributes) ? 'layout' : this.#tables })
    else if (name === 'tr') this.#openRow()
    else if (name === 'td' || name === 'th') this.#openCell(name, attributes)
    else if (name === 'ul' || name === 'ol') this.#push({ kind: 'list', ordered: name === 'ol', items: [] })
    else if (name === 'li') this.#openItem()
  }

  #closeLink(): void {
    this.outline.setLink(undefined)
    const reference = this.#notes.closeLink()
    // Its paragraph may have ended within it.
    if (reference !== undefined && reference.offset <= this.#text.length)
      this.#text.replaceFrom(reference.offset, reference.label)
  }

  #openNote(note: Note): void {
    this.#notes.beginNote(note)
    const top = this.#top()
    if (note.kind === 'holder') this.#push({ kind: 'note', note: note.id, blocks: [] })
    else if (note.kind === 'item' && top.kind === 'item') top.note = note.id
  }

  #image(attributes: Attributes): void {
    const { picture, alt, text } = this.#images.read(attributes)
    if (picture === undefined) {
      if (text !== '') this.#text.add(` ${text} `, 'words')
      return
    }
    this.#endParagraph()
    this.#currentBlocks().push({ type: 'image', text, picture, ...(text === alt ? {} : { metadata: { alt } }) })
  }

  #openPre(attributes: Attributes): void {
    this.#endParagraph()
    this.#pre = { language: getCodeLanguage(attributes), code: false }
  }

  #openInPre(name: string, attributes: Attributes): void {
    if (this.#pre === undefined) return
    if (name === 'br') this.#text.add('\n', 'blank')
    if (name === 'code') {
      this.#pre.code = true
      this.#pre.language ||= getCodeLanguage(attributes)
    }
  }

  #closePre(): void {
    const text = this.#text.takeRaw()
    const pre = this.#pre
    this.#pre = undefined
    if (pre === undefined || text.trim() === '') return
    if (!pre.code && pre.language === '' && text.split('\n').length > MAX_PRE_CODE_LINES) {
      for (const block of readProseBlocks(text)) this.#currentBlocks().push(block)
      return
    }
    const metadata = pre.language === '' ? {} : { metadata: { language: pre.language } }
    this.#currentBlocks().push({ type: 'code', text, ...metadata })
  }

  #openRow(): void {
    this.#pop('row', 'table')
    if (this.#top().kind === 'table') this.#push({ kind: 'row', cells: [] })
  }

  #openCell(name: 'td' | 'th', attributes: Attributes): void {
    this.#pop('cell', 'table')
    if (this.#top().kind === 'table') this.#push({ kind: 'row', cells: [] })
    if (this.#top().kind === 'row')
      this.#push({ kind: 'cell', blocks: [], header: name === 'th', ...getSpans(attributes) })
  }

  #openItem(): void {
    this.#pop('item', 'list', 'table')
    if (this.#top().kind === 'list') this.#push({ kind: 'item', blocks: [] })
  }

  #push(frame: HtmlFrame): void {
    this.#endParagraph()
    if (this.#frames.length < MAX_FRAMES) this.#frames.push(frame)
  }

  /** Closes the innermost frame of a kind with everything in it; stops at a frame of the other kinds. */
  #pop(kind: HtmlFrame['kind'], within?: HtmlFrame['kind'], orWithin?: HtmlFrame['kind']): void {
    this.#endParagraph()
    for (let index = this.#frames.length - 1; index > 0; index--) {
      const frameKind = this.#frames[index]?.kind
      if (frameKind === kind) {
        while (this.#frames.length > index) this.#popTop()
        return
      }
      if (frameKind === within || frameKind === orWithin) return
    }
  }

  #popTop(): void {
    const frame = this.#frames.pop()
    const below = this.#top()
    if (frame === undefined) return
    if (frame.kind === 'cell' && below.kind === 'row') below.cells.push(frame)
    else if (frame.kind === 'row' && below.kind === 'table') below.rows.push(frame.cells)
    else if ('note' in frame && frame.note !== undefined) this.#notes.addNoteBlocks(frame.note, frame.blocks)
    else if (frame.kind === 'item' && below.kind === 'list') below.items.push(frame.blocks)
    else if (frame.kind === 'table') {
      const inside: Block[] = []
      for (const row of frame.rows) for (const cell of row) for (const block of cell.blocks) inside.push(block)
      this.#replace(inside, closeTable(frame, inside))
    } else if (frame.kind === 'list') {
      const inside = frame.items.flat()
      this.#replace(inside, closeList(frame, inside))
    }
  }

  #replace(inside: Block[], replacement: Block[]): void {
    // What existed before, such as a picture, follows the new block.
    const last = replacement[replacement.length - 1]
    if (replacement !== inside && (last === undefined || !inside.includes(last))) {
      this.outline.replaceBlocks(inside, replacement[0])
      this.#notes.moveReferences(inside, last)
    }
    for (const block of replacement) this.#add(block)
  }

  #add(block: Block): void {
    if (this.#navigationDepth > 0) this.#navigation.add(block)
    this.#currentBlocks().push(block)
  }

  #top(): HtmlFrame {
    return this.#frames[this.#frames.length - 1] ?? { kind: 'root', blocks: this.#root }
  }

  /** The list that receives blocks now. Text between the rows of a table precedes the table, as in browsers. */
  #currentBlocks(): Block[] {
    for (let index = this.#frames.length - 1; index > 0; index--) {
      const frame = this.#frames[index]
      if (frame !== undefined && 'blocks' in frame) return frame.blocks
    }
    return this.#root
  }

  #endParagraph(): void {
    const texts = this.#text.length === 0 ? [] : this.#text.takeParagraphs()
    if (texts.length === 0) {
      this.#style.discardStyle()
      return
    }
    const style = this.#style.takeStyle()
    for (const text of texts) {
      const block: Block =
        this.#heading > 0 ? { type: 'heading', text, level: this.#heading } : { type: 'paragraph', text }
      if (this.#heading === 0 && this.#inCaption) block.metadata = { role: 'caption' }
      this.outline.addBlock(block, style)
      if (!this.#notes.addBlock(block)) this.#add(block)
    }
  }
}
