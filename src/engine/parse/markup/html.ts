import { defined } from '../../../lib/defined.js'
import { outlineBlocks } from '../looks.js'
import type { Block, Parsed, Parser, Picture } from '../parsed.js'
import { pictureFrom } from '../pictures.js'
import { proseBlocks } from '../text/text.js'
import { articleBlocks, mayHaveArticle } from './article.js'
import { DroppedElement } from './dropped-element.js'
import { BREAKS, CONTENT_STARTS, DROPPED, HEADINGS, LONG_PRE, languageOf, spansOf } from './html-elements.js'
import { HtmlFields, pageTitle } from './html-fields.js'
import { closeList, closeTable, type Frame, MAX_FRAMES } from './html-frames.js'
import { HtmlLook } from './html-look.js'
import { HtmlNotes, type Note } from './html-notes.js'
import { HtmlPlaces } from './html-outline.js'
import { HtmlText } from './html-text.js'
import { type Attributes, readMarkup } from './markup-events.js'
import { RubyText } from './ruby.js'

/** With at least this much other text (in characters), a page is read without its navigation. */
const MIN_CONTENT = 200

export interface HtmlOptions {
  /** picture of an image's `src`; default: its address or its `data:` bytes */
  picture?: (source: string) => Picture | undefined
  /** XHTML: `<title/>` is empty, not open */
  xhtml?: boolean
  /** notes of the book that contains the page, which places them */
  notes?: HtmlNotes
}

/** Reads HTML of any quality in one pass, without building a tree. */
export const htmlParser: Parser = {
  accepts: (mediaType) => mediaType === 'text/html' || mediaType === 'application/xhtml+xml',
  parse(input) {
    const source = input.text()
    const reader = new HtmlReader({}, mayHaveArticle(source))
    readInto(reader, source, false)
    const page = reader.finish()
    const blocks = articleBlocks(source, page.blocks, (block) => reader.places.looks.get(block))
    return { ...page, blocks, parser: 'native-html', contentType: 'text' }
  },
}

/**
 * Reads blocks, title and language of a page. Scripts, styles and form controls are dropped; navigation, too, where
 * there is a text.
 */
export function readHtml(source: string, options: HtmlOptions = {}): Omit<Parsed, 'parser' | 'contentType'> {
  const reader = new HtmlReader(options, false)
  readInto(reader, source, options.xhtml === true)
  return reader.finish()
}

function readInto(reader: HtmlReader, source: string, xhtml: boolean): void {
  const ruby = source.includes('<ruby') ? new RubyText(reader) : undefined
  readMarkup(source, ruby ?? reader, false, xhtml)
  ruby?.finish()
}

class HtmlReader {
  readonly #picture: (source: string) => Picture | undefined
  readonly #root: Block[] = []
  readonly #frames: Frame[] = [{ kind: 'root', blocks: this.#root }]
  readonly #navigation = new Set<Block>()
  readonly #metadata: Record<string, unknown> = {}
  readonly #fields = new HtmlFields()
  readonly #look: HtmlLook
  readonly places = new HtmlPlaces()
  readonly #notes: HtmlNotes
  readonly #isOfBook: boolean
  readonly #text = new HtmlText()
  #heading = 0
  readonly #dropped = new DroppedElement()
  #navigationDepth = 0
  #pre: { language: string; code: boolean } | undefined
  #inTitle = false
  #inCaption = false
  #title: string | undefined
  #language: string | undefined

  /** @param withAreas whether the areas of its blocks are needed */
  constructor(options: HtmlOptions, withAreas: boolean) {
    this.#look = new HtmlLook(withAreas)
    this.#picture = options.picture ?? pictureFrom
    this.#notes = options.notes ?? new HtmlNotes()
    this.#isOfBook = options.notes !== undefined
  }

  text(text: string): void {
    if (this.#dropped.inside) {
      this.#fields.dropped(text)
      this.#look.dropped(text)
    } else if (this.#inTitle) this.#title = `${this.#title ?? ''}${text}`.slice(0, 1000)
    else this.#keep(text)
  }

  open(name: string, attributes: Attributes): void {
    this.#fields.open(name, attributes)
    this.#look.open(name, attributes)
    if (this.#dropped.opens(name, DROPPED.has(name))) return
    const note = this.#notes.opens(name, attributes)
    if (this.#pre !== undefined) {
      this.#openInPre(name, attributes)
    } else if (HEADINGS.has(name)) {
      this.#break()
      if (CONTENT_STARTS.has(name)) this.#navigationDepth = 0
      this.#heading = Number(name.charAt(1))
    } else if (BREAKS.has(name)) {
      this.#break()
      if (CONTENT_STARTS.has(name)) this.#navigationDepth = 0
      if (name === 'nav') this.#navigationDepth++
      this.#inCaption = name === 'figcaption'
      if (name === 'html') this.#language = attributes.get('lang') ?? attributes.get('xml:lang')
    } else {
      this.#openOther(name, attributes)
    }
    if (name === 'a') {
      this.places.link(attributes.get('href'))
      this.#notes.openLink(attributes, this.#text.length)
    }
    if (note !== undefined) this.#openNote(note)
    this.places.named(attributes.get('id') ?? (name === 'a' ? attributes.get('name') : undefined))
  }

  close(name: string): void {
    this.#fields.close(name)
    this.#look.close(name)
    if (name === 'a') this.#closeLink()
    if (this.#dropped.closes(name)) return
    if (this.#notes.closes(name)) this.#pop('note')
    if (name === 'title') {
      this.#inTitle = false
    } else if (this.#pre !== undefined) {
      if (name === 'pre') this.#closePre()
    } else if (HEADINGS.has(name)) {
      this.#break()
      this.#heading = 0
    } else if (name === 'table' || name === 'ul' || name === 'ol') {
      this.#pop(name === 'table' ? 'table' : 'list')
    } else if (name === 'tr') {
      this.#pop('row', 'table')
    } else if (name === 'td' || name === 'th') {
      this.#pop('cell', 'table')
    } else if (name === 'li') {
      this.#pop('item', 'list', 'table')
    } else if (BREAKS.has(name)) {
      this.#break()
      if (name === 'figcaption') this.#inCaption = false
      if (name === 'nav' && this.#navigationDepth > 0) this.#navigationDepth--
    }
  }

  #keep(text: string): void {
    const letters = text.trim().length
    this.#text.add(text, letters === 0)
    if (letters > 0) this.#look.text(letters)
    this.places.text(text)
    this.#notes.text(text)
  }

  finish(): Omit<Parsed, 'parser' | 'contentType'> {
    if (this.#pre !== undefined) this.#closePre()
    this.#break()
    while (this.#frames.length > 1) this.#popTop()
    const content = this.#root.filter((block) => !this.#navigation.has(block))
    const length = content.reduce((sum, block) => sum + block.text.length, 0)
    const fields = this.#fields.finish()
    const blocks = length >= MIN_CONTENT ? content : this.#root
    const listed = this.places.listed(blocks)
    outlineBlocks(blocks, this.places.looks, (place) => listed.has(place))
    return {
      blocks: this.#isOfBook ? blocks : this.#notes.placed(blocks),
      metadata: this.#metadata,
      declared: fields.declared,
      ...defined({ title: pageTitle(this.#title, fields.title), language: this.#language ?? fields.language }),
    }
  }

  #openOther(name: string, attributes: Attributes): void {
    if (name === 'br') {
      if (this.#text.breakLine()) this.#break()
    } else if (name === 'img') this.#image(attributes)
    else if (name === 'title' && this.#title === undefined) this.#inTitle = true
    else if (name === 'pre') this.#openPre(attributes)
    else if (name === 'table') this.#push({ kind: 'table', rows: [] })
    else if (name === 'tr') this.#openRow()
    else if (name === 'td' || name === 'th') this.#openCell(name === 'th', attributes)
    else if (name === 'ul' || name === 'ol') this.#push({ kind: 'list', ordered: name === 'ol', items: [] })
    else if (name === 'li') this.#openItem()
    else if (name === 'meta') this.#meta(attributes)
  }

  #closeLink(): void {
    this.places.link(undefined)
    const reference = this.#notes.closeLink()
    // Its paragraph may have ended within it.
    if (reference !== undefined && reference.at <= this.#text.length)
      this.#text.replaceFrom(reference.at, reference.label)
  }

  #openNote(note: Note): void {
    this.#notes.begin(note)
    const top = this.#top()
    if (note.kind === 'holder') this.#push({ kind: 'note', note: note.id, blocks: [] })
    else if (note.kind === 'item' && top.kind === 'item') top.note = note.id
  }

  #meta(attributes: Attributes): void {
    const name = attributes.get('name')?.toLowerCase()
    const content = attributes.get('content')?.trim() ?? ''
    if (content !== '' && (name === 'description' || name === 'keywords')) this.#metadata[name] = content.slice(0, 1000)
  }

  #image(attributes: Attributes): void {
    const alt = attributes.get('alt')?.trim() ?? ''
    const tiny = Number(attributes.get('width') ?? 100) <= 2 || Number(attributes.get('height') ?? 100) <= 2
    const picture = tiny ? undefined : this.#picture(attributes.get('src') ?? '')
    if (picture === undefined) {
      if (alt !== '') this.#text.add(` ${alt} `, false)
      return
    }
    this.#break()
    this.#sink().push({ type: 'image', text: alt, picture })
  }

  #openPre(attributes: Attributes): void {
    this.#break()
    this.#pre = { language: languageOf(attributes), code: false }
  }

  #openInPre(name: string, attributes: Attributes): void {
    if (this.#pre === undefined) return
    if (name === 'br') this.#text.add('\n', true)
    if (name === 'code') {
      this.#pre.code = true
      this.#pre.language ||= languageOf(attributes)
    }
  }

  #closePre(): void {
    const text = this.#text.takeRaw()
    const pre = this.#pre
    this.#pre = undefined
    if (pre === undefined || text.trim() === '') return
    if (!pre.code && pre.language === '' && text.split('\n').length > LONG_PRE) {
      for (const block of proseBlocks(text)) this.#sink().push(block)
      return
    }
    const metadata = pre.language === '' ? {} : { metadata: { language: pre.language } }
    this.#sink().push({ type: 'code', text, ...metadata })
  }

  #openRow(): void {
    this.#pop('row', 'table')
    if (this.#top().kind === 'table') this.#push({ kind: 'row', cells: [] })
  }

  #openCell(header: boolean, attributes: Attributes): void {
    this.#pop('cell', 'table')
    if (this.#top().kind === 'table') this.#push({ kind: 'row', cells: [] })
    if (this.#top().kind === 'row') this.#push({ kind: 'cell', blocks: [], header, ...spansOf(attributes) })
  }

  #openItem(): void {
    this.#pop('item', 'list', 'table')
    if (this.#top().kind === 'list') this.#push({ kind: 'item', blocks: [] })
  }

  #push(frame: Frame): void {
    this.#break()
    if (this.#frames.length < MAX_FRAMES) this.#frames.push(frame)
  }

  /** Closes the innermost frame of a kind with everything in it; stops at a frame of the other kinds. */
  #pop(kind: Frame['kind'], within?: Frame['kind'], orWithin?: Frame['kind']): void {
    this.#break()
    for (let at = this.#frames.length - 1; at > 0; at--) {
      const found = this.#frames[at]?.kind
      if (found === kind) {
        while (this.#frames.length > at) this.#popTop()
        return
      }
      if (found === within || found === orWithin) return
    }
  }

  #popTop(): void {
    const frame = this.#frames.pop()
    const below = this.#top()
    if (frame === undefined) return
    if (frame.kind === 'cell' && below.kind === 'row') below.cells.push(frame)
    else if (frame.kind === 'row' && below.kind === 'table') below.rows.push(frame.cells)
    else if ('note' in frame && frame.note !== undefined) this.#notes.keep(frame.note, frame.blocks)
    else if (frame.kind === 'item' && below.kind === 'list') below.items.push(frame.blocks)
    else if (frame.kind === 'table') {
      const inside: Block[] = []
      for (const row of frame.rows) for (const cell of row) for (const block of cell.blocks) inside.push(block)
      this.#replace(inside, closeTable(frame.rows, inside))
    } else if (frame.kind === 'list') {
      const inside = frame.items.flat()
      this.#replace(inside, closeList(frame.items, frame.ordered, inside))
    }
  }

  #replace(inside: Block[], by: Block[]): void {
    // What existed before, such as a picture, follows the new block.
    const last = by[by.length - 1]
    if (by !== inside && (last === undefined || !inside.includes(last))) {
      this.places.replaced(inside, by[0])
      this.#notes.replaced(inside, last)
    }
    for (const block of by) this.#add(block)
  }

  #add(block: Block): void {
    if (this.#navigationDepth > 0) this.#navigation.add(block)
    this.#sink().push(block)
  }

  #top(): Frame {
    return this.#frames[this.#frames.length - 1] ?? { kind: 'root', blocks: this.#root }
  }

  /** The list that receives blocks now. Text between the rows of a table precedes the table, as in browsers. */
  #sink(): Block[] {
    for (let at = this.#frames.length - 1; at > 0; at--) {
      const frame = this.#frames[at]
      if (frame !== undefined && 'blocks' in frame) return frame.blocks
    }
    return this.#root
  }

  #break(): void {
    if (this.#text.length === 0) {
      this.#look.forget()
      return
    }
    const texts = this.#text.take()
    if (texts.length === 0) {
      this.#look.forget()
      return
    }
    const look = this.#look.take()
    for (const text of texts) {
      const block: Block =
        this.#heading > 0 ? { type: 'heading', text, level: this.#heading } : { type: 'paragraph', text }
      if (this.#heading === 0 && this.#inCaption) block.metadata = { role: 'caption' }
      this.places.made(block, look)
      if (!this.#notes.takes(block)) this.#add(block)
    }
  }
}
