import iconv from 'iconv-lite'
import { omitUndefined } from '../../../lib/omit-undefined.js'
import { toEncodingName } from '../code-pages.js'
import { MAX_PICTURE_BYTES, ReadError } from '../limits.js'
import type { Block, ParsedDocument, Parser } from '../parsed.js'
import { hasContent } from '../pictures.js'
import { toCommentBlock } from './comments.js'
import { toMeaningfulTitle } from './office-package.js'
import { RtfBlocks } from './rtf-blocks.js'
import { readRtfDates } from './rtf-dates.js'
import { type RtfHandler, tokenizeRtf } from './rtf-tokens.js'
import {
  CHARACTERS,
  CHARSET_PAGES,
  DESTINATIONS,
  FILE_PAGES,
  KEPT_GROUPS,
  type RtfGroupKind,
  type RtfGroupText,
  type RtfState,
  toHeadingLevel,
  toStyleLevel,
} from './rtf-words.js'

/** Groups nest some tens deep; deeper ones share the state of this depth. */
const MAX_DEPTH = 1000
const DEFAULT_PAGE = 1252
/** Maximal length of style names, titles and the like. */
const MAX_NAME_LENGTH = 1000
/** Groups with long texts. */
const LONG_GROUPS = new Set<RtfGroupKind>(['body', 'note', 'remark', 'picture'])
/** Default formatting: 12 points (RTF 1.9.1, `\\fs`). */
const PLAIN = { bold: false, italic: false, underlined: false, size: 24 } as const

/** Reads Rich Text Format: paragraphs, headings, lists, table rows, notes, comments, pictures. Skips objects. */
export const rtfParser: Parser = {
  parse(input): ParsedDocument {
    const reader = new RtfReader()
    const source = input.bytes.toString('latin1')
    tokenizeRtf(source, reader)
    const { blocks, title, author } = reader.finish()
    if (!hasContent(blocks)) throw new ReadError('empty', `${input.filename} has no text`)
    return {
      parser: 'unstructured',
      contentType: 'text',
      ...omitUndefined({ title }),
      blocks,
      metadata: {},
      declared: { ...readRtfDates(source), ...(author === undefined ? {} : { authors: [author] }) },
    }
  },
}

/** The blocks of RTF that is part of another file. */
export function readRtfBlocks(bytes: Buffer): Block[] {
  const reader = new RtfReader()
  tokenizeRtf(bytes.toString('latin1'), reader)
  return reader.finish().blocks
}

class RtfReader implements RtfHandler {
  readonly #body = new RtfBlocks()
  readonly #stack: RtfState[] = []
  readonly #fontPages = new Map<number, number>()
  readonly #styleLevels = new Map<number, number>()
  readonly #headersAndFooters: { text: string; role: string }[] = []
  #state: RtfState = {
    sink: { kind: 'body', text: '' },
    page: DEFAULT_PAGE,
    fallback: 1,
    hidden: false,
    inTable: false,
    style: 0,
    outline: undefined,
    ...PLAIN,
  }
  #filePage = DEFAULT_PAGE
  #font = 0
  #tooDeep = 0
  /** Bytes not decoded yet, since a character may have several. */
  #bytes = ''
  #skip = 0
  #starred = false
  #marker: string | undefined
  #notes: Block[] = []
  /** Author of the next comment. */
  #commentAuthor = ''
  #pictureBytes = 0
  /** Name of the last named property of a picture or shape. */
  #propertyName = ''
  #title: string | undefined
  #author: string | undefined

  open(): void {
    this.#flush()
    this.#skip = 0
    this.#starred = false
    if (this.#stack.length >= MAX_DEPTH) {
      this.#tooDeep++
      return
    }
    this.#stack.push(this.#state)
    this.#state = { ...this.#state }
  }

  close(): void {
    this.#flush()
    this.#skip = 0
    this.#starred = false
    if (this.#tooDeep > 0) {
      this.#tooDeep--
      return
    }
    const outer = this.#stack.pop()
    if (outer === undefined) return
    const { sink, style, outline } = this.#state
    if (sink.kind === 'styles') this.#closeStyle(sink, style, outline)
    this.#state = outer
    if (sink !== outer.sink) this.#closeSink(sink)
  }

  text(bytes: string): void {
    const remaining = this.#skip === 0 ? bytes : bytes.slice(this.#skip)
    this.#skip = Math.max(0, this.#skip - bytes.length)
    this.#starred = false
    this.#bytes += remaining
  }

  control(word: string, parameter: number | undefined): void {
    if (word === '*') {
      this.#starred = true
      return
    }
    if (word === 'u') {
      this.#unicode(parameter ?? 0)
      return
    }
    this.#flush()
    const isOptional = this.#starred
    this.#starred = false
    const kind = DESTINATIONS.get(word) ?? (isOptional && !KEPT_GROUPS.has(word) ? 'skip' : undefined)
    const { sink } = this.#state
    if (kind !== undefined) this.#openSink(kind, word)
    else if (CHARACTERS.has(word)) this.#add(CHARACTERS.get(word) ?? '')
    else if (sink.kind === 'fonts') this.#fontWord(word, parameter ?? 0)
    else if (word === 'par' || word === 'sect' || word === 'page' || word === '\n' || word === '\r')
      this.#endParagraph()
    else if (word === 'cell' || word === 'nestcell') this.#endCell(word)
    else if (word === 'row' && sink.kind === 'body') this.#body.closeRow()
    else this.#property(word, parameter)
  }

  finish(): { blocks: Block[]; title?: string; author?: string } {
    while (this.#stack.length > 0) this.close()
    this.#flush()
    if (this.#state.sink.text.trim() !== '') this.#endParagraph()
    this.#addNotes()
    const blocks = this.#body.finish()
    const seen = new Set(blocks.map((block) => block.text))
    for (const { text, role } of this.#headersAndFooters) {
      if (seen.has(text)) continue
      seen.add(text)
      blocks.push({ type: 'paragraph', text, metadata: { role } })
    }
    const title = toMeaningfulTitle(this.#title)
    return {
      blocks,
      ...omitUndefined({ title, author: this.#author }),
    }
  }

  #flush(): void {
    const bytes = this.#bytes
    if (bytes === '') return
    this.#bytes = ''
    const isAscii = !/[\x80-\xff]/.test(bytes)
    this.#add(isAscii ? bytes : iconv.decode(Buffer.from(bytes, 'latin1'), toEncodingName(this.#state.page)))
  }

  #add(text: string): void {
    const { sink, hidden } = this.#state
    if (hidden || sink.kind === 'skip' || sink.kind === 'info' || sink.kind === 'fonts') return
    if (!LONG_GROUPS.has(sink.kind) && sink.text.length > MAX_NAME_LENGTH) return
    if (sink.kind === 'picture' && sink.text.length > MAX_PICTURE_BYTES * 2) return
    sink.text += text
    if (sink.kind === 'body') this.#body.recordFormatting(text, this.#state)
  }

  #unicode(code: number): void {
    this.#flush()
    const unit = code < 0 ? code + 0x10000 : code
    if (unit > 0 && unit <= 0xffff) this.#add(String.fromCharCode(unit))
    this.#skip = this.#state.fallback
  }

  #openSink(kind: RtfGroupKind, word: string): void {
    const outer = this.#state.sink.kind
    const groupKind = hasSeparateText(kind, outer) ? kind : BODY_ONLY_GROUPS.has(kind) ? 'skip' : undefined
    if (outer === 'skip' || groupKind === undefined) return
    this.#state.sink = { kind: groupKind, text: '', role: word.startsWith('footer') ? 'footer' : 'header' }
    if (kind === 'styles') this.#state.style = 0
  }

  #closeSink(sink: RtfGroupText): void {
    const { kind, text, role } = sink
    if (kind === 'picture') {
      this.#picture(sink)
      return
    }
    const line = text.replace(/[^\S\n]+/g, ' ').trim()
    if (kind === 'marker') this.#marker = line
    else if (line === '') return
    else if (kind === 'title') this.#title ??= line
    else if (kind === 'author') this.#author ??= line
    else if (kind === 'note') this.#notes.push({ type: 'paragraph', text: line })
    else if (kind === 'by') this.#commentAuthor = line
    else if (kind === 'remark') this.#notes.push(toCommentBlock({ author: this.#commentAuthor, text: line }))
    else if (kind === 'name') this.#propertyName = line
    else if (kind === 'value') this.#value(line)
    else if (kind === 'margin') this.#headersAndFooters.push({ text: line, role: role ?? 'header' })
  }

  /** Handles a property of the enclosing group: the description of a picture, or drawn words. */
  #value(text: string): void {
    const { sink } = this.#state
    if (this.#propertyName === 'wzDescription' && sink.kind === 'picture') sink.alt = text
    else if (this.#propertyName === 'gtextUNICODE' && sink.kind === 'body')
      this.#notes.push({ type: 'paragraph', text })
  }

  #picture({ text, isPixels, alt = '' }: RtfGroupText): void {
    const hex = isPixels === true ? text.replace(/[^0-9a-fA-F]+/g, '') : ''
    const bytes = this.#pictureBytes + hex.length / 2 > MAX_PICTURE_BYTES ? [] : Buffer.from(hex, 'hex')
    this.#pictureBytes += bytes.length
    if (bytes.length > 0) this.#notes.push({ type: 'image', text: alt, picture: { bytes: new Uint8Array(bytes) } })
    else if (alt !== '') this.#notes.push({ type: 'paragraph', text: alt })
  }

  #closeStyle(sink: RtfGroupText, style: number, outline: number | undefined): void {
    if (style > 0) this.#styleLevels.set(style, toStyleLevel(sink.text, outline))
    sink.text = ''
  }

  #fontWord(word: string, parameter: number): void {
    if (word === 'f') this.#font = parameter
    const page = word === 'fcharset' ? CHARSET_PAGES.get(parameter) : word === 'cpg' ? parameter : undefined
    if (page !== undefined) this.#fontPages.set(this.#font, page)
  }

  #property(word: string, parameter: number | undefined): void {
    const state = this.#state
    if (word === 'pngblip' || word === 'jpegblip') state.sink.isPixels = true
    else if (word === 'f') state.page = this.#fontPages.get(parameter ?? 0) ?? this.#filePage
    else if (word === 'uc') state.fallback = Math.min(Math.max(parameter ?? 1, 0), 100)
    else if (word === 'v' || word === 'deleted') state.hidden = parameter !== 0
    else if (word === 'plain') Object.assign(state, PLAIN, { hidden: false })
    else if (word === 'b') state.bold = parameter !== 0
    else if (word === 'i') state.italic = parameter !== 0
    else if (word === 'ul' || word === 'ulnone') state.underlined = word === 'ul' && parameter !== 0
    else if (word === 'fs') state.size = parameter ?? PLAIN.size
    else if (word === 'intbl') state.inTable = true
    else if (word === 's') state.style = parameter ?? 0
    else if (word === 'outlinelevel') state.outline = parameter ?? 0
    else if (word === 'ansicpg' || FILE_PAGES.has(word)) {
      this.#filePage = FILE_PAGES.get(word) ?? parameter ?? DEFAULT_PAGE
      state.page = this.#filePage
    } else if (word === 'pard') {
      state.inTable = false
      state.style = 0
      state.outline = undefined
    }
  }

  #endParagraph(): void {
    const { sink, inTable, style, outline } = this.#state
    if (sink.kind !== 'body') {
      this.#add('\n')
      return
    }
    const text = sink.text
    sink.text = ''
    const level = outline === undefined ? (this.#styleLevels.get(style) ?? 0) : toHeadingLevel(outline)
    if (inTable) this.#body.cellText(text)
    else this.#body.paragraph(text, level, this.#marker)
    this.#marker = undefined
    if (!inTable) this.#addNotes()
  }

  /** Adds notes after their paragraph. */
  #addNotes(): void {
    for (const note of this.#notes) this.#body.addAfter(note)
    this.#notes = []
  }

  /** Ends a cell. Cells of a nested table belong to the outer cell. */
  #endCell(word: 'cell' | 'nestcell'): void {
    const { sink } = this.#state
    if (sink.kind !== 'body') return
    this.#body.cellText(sink.text)
    sink.text = ''
    this.#marker = undefined
    if (word === 'cell') this.#body.closeCell()
  }
}

/** Groups that are skipped within notes, headers and footers instead of becoming part of them. */
const BODY_ONLY_GROUPS = new Set<RtfGroupKind>(['by', 'remark'])

/** Whether a group of a kind has a separate text inside a group of another kind. */
function hasSeparateText(kind: RtfGroupKind, outer: RtfGroupKind): boolean {
  if (kind === 'title' || kind === 'author') return outer === 'info'
  if (kind === 'picture') return outer !== 'picture'
  return outer === 'body' || kind === 'skip' || kind === 'name' || kind === 'value'
}
