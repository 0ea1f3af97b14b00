import type { Token } from 'markdown-it'
import { omitUndefined } from '../../../lib/omit-undefined.js'
import { readHtml } from '../markup/html.js'
import type { Block, ParsedDocument, Parser, Picture } from '../parsed.js'
import { parsePictureSource } from '../pictures.js'
import { buildTableBlocks } from '../tables.js'
import { readFrontMatter } from './front-matter.js'
import { readInlineText } from './markdown-inline.js'
import { placeNotes } from './markdown-notes.js'
import { readBlocks } from './markdown-rules.js'

/** Maximum depth of nested lists that is indented. */
const MAX_INDENT = 8

const CALLOUT = /^\[![\w-]+\][+-]?[ \t]*/
/** Text before the first cell of a row: marks of the quote or list that contains the table. */
const ROW_START = /^[\s>]*(?:(?:[-*+]|\d{1,9}[.)])\s+)?[\s>]*\|?/

/** A block whose texts are still Markdown; its link targets may be defined further down. */
type MarkdownDraft = (
  | { type: 'heading' | 'paragraph'; source: string; level?: number }
  | { type: 'list'; lines: { before: string; source: string }[] }
  | { type: 'html'; source: string }
  | { type: 'table'; rows: string[][] }
  | { type: 'code'; block: Block }
) & {
  /** continues the note before it */
  continues?: boolean
}

/**
 * Reads Markdown: CommonMark, GitHub's tables and task lists, front matter, links and callouts of notebook programs.
 *
 * A list with its nested lists is one block, quotes are paragraphs; code and tables are always separate blocks.
 */
export const markdownParser: Parser = {
  parse: (input) => parseMarkdown(input.text()),
}

/** @param source decoded text with any line ends */
export function parseMarkdown(source: string): ParsedDocument {
  const text = source.includes('\r') ? source.replace(/\r\n?/g, '\n') : source
  const frontMatter = readFrontMatter(text)
  const warnings: string[] = []
  const blocks = readMarkdownBlocks(text.slice(frontMatter.length), warnings)
  const parsed: ParsedDocument = {
    parser: 'native-markdown',
    contentType: 'text',
    blocks,
    metadata: {
      ...(frontMatter.data === undefined ? {} : { frontMatter: frontMatter.data }),
      ...(warnings.length === 0 ? {} : { warnings }),
    },
  }
  const { title, lang } = frontMatter.data ?? {}
  if (typeof title === 'string' && title.trim() !== '') parsed.title = title
  if (typeof lang === 'string' && lang.trim() !== '') parsed.language = lang
  return parsed
}

/** @param warnings list to which warnings are added */
function readMarkdownBlocks(text: string, warnings: string[]): Block[] {
  const hasNotes = text.includes('[^')
  const reader = new DraftReader(text)
  const { drafts } = reader
  const env = readBlocks(text, { hasNotes, onTokens: (tokens) => reader.addTokens(tokens) })
  const toBlocks = (draft: MarkdownDraft): Block[] => {
    if (draft.type === 'code') return [draft.block]
    if (draft.type === 'html' && hidesRest(draft.source))
      warnings.push('a script or style sheet has no end: what follows it is not read')
    if (draft.type === 'html') return readHtml(escapeOpenTag(draft.source)).blocks
    if (draft.type === 'table') {
      // Changes the rows in place: long tables are the largest objects of a document.
      for (const row of draft.rows)
        for (const [index, cell] of row.entries()) row[index] = readInlineText(cell, env).text
      return buildTableBlocks(draft.rows, true)
    }
    const pictures: Picture[] = []
    if (draft.type === 'list') {
      const lines = draft.lines.map(({ before, source }) => `${before}${readInlineText(source, env, pictures).text}`)
      return [{ type: 'list', text: lines.join('\n') }, ...toPictureBlocks(pictures, '')]
    }
    const { text: plainText, isPicture } = readInlineText(draft.source, env, pictures)
    const pictureOnly = draft.type === 'paragraph' && isPicture ? toPictureBlocks(pictures, plainText) : []
    if (pictureOnly.length > 0) return pictureOnly
    const { type, level } = draft
    return [{ type, text: plainText, ...omitUndefined({ level }) }, ...toPictureBlocks(pictures, '')]
  }
  if (!hasNotes) return drafts.flatMap(toBlocks)
  return placeNotes(drafts.flatMap(splitNotes), getSource, toBlocks)
}

/** Whether HTML ends within a script or style sheet. */
function hidesRest(html: string): boolean {
  const source = html.toLowerCase()
  return ['script', 'style'].some((name) => source.lastIndexOf(`<${name}`) > source.lastIndexOf(`</${name}`))
}

/** A tag without its end is text: as a tag it would hide the rest of the block. */
function escapeOpenTag(html: string): string {
  const end = html.lastIndexOf('>') + 1
  return html.slice(0, end) + html.slice(end).replaceAll('<', '&lt;')
}

/** CommonMark reads notes on consecutive lines as one paragraph. */
function splitNotes(draft: MarkdownDraft): MarkdownDraft[] {
  if (draft.type !== 'paragraph' || draft.continues === true || !draft.source.startsWith('[^')) return [draft]
  return draft.source.split(/\n(?=\[\^[^\]\s]{1,100}\]:)/).map((source) => ({ type: 'paragraph', source }))
}

function getSource(draft: MarkdownDraft): string {
  if (draft.type === 'code' || draft.type === 'html') return ''
  if (draft.type === 'table') return draft.rows.flat().join(' ')
  return draft.type === 'list' ? draft.lines.map(({ source }) => source).join(' ') : draft.source
}

function toPictureBlocks(pictures: readonly Picture[], text: string): Block[] {
  return pictures.flatMap((source, index) => {
    const picture = 'uri' in source ? parsePictureSource(source.uri) : source
    return picture === undefined ? [] : [{ type: 'image', text: index === 0 ? text : '', picture }]
  })
}

/** Builds drafts from tokens, in the order of the document. */
class DraftReader {
  readonly drafts: MarkdownDraft[] = []
  readonly #text: string
  #lines: string[] | undefined
  #quotes = 0
  /** the next text is the first of its quote */
  #opensQuote = false
  #lists = 0
  /** prefix of the next text of the list: the mark of its item, or indentation */
  #prefix = ''
  #list: { before: string; source: string }[] = []
  #level: number | undefined
  #inNote = false
  #rows: string[][] | undefined
  /** line of the text with the current row */
  #rowLine = 0

  constructor(text: string) {
    this.#text = text
  }

  addTokens(tokens: readonly Token[]): void {
    for (const token of tokens) this.#token(token)
  }

  #token(token: Token): void {
    const { type } = token
    if (type === 'inline') this.#inline(token.content)
    else if (type === 'heading_open') this.#level = Number(token.tag.slice(1))
    else if (type === 'heading_close') this.#level = undefined
    else if (type === 'blockquote_open') {
      this.#quotes++
      this.#opensQuote = true
    } else if (type === 'blockquote_close') this.#quotes--
    else if (type === 'bullet_list_open' || type === 'ordered_list_open') this.#lists++
    else if (type === 'bullet_list_close' || type === 'ordered_list_close') {
      if (--this.#lists === 0) this.#endList()
      this.#prefix = this.#indent(this.#lists)
    } else if (type === 'list_item_open') {
      this.#prefix = `${this.#indent(this.#lists - 1)}${token.info}${token.markup} `
    } else if (type === 'note_open' || type === 'note_close') this.#inNote = type === 'note_open'
    else if (type === 'html_block') this.#html(token.content)
    else if (type === 'fence' || type === 'code_block') this.#code(token)
    else if (type === 'tr_open') {
      this.#rows ??= []
      this.#rows.push([])
      this.#rowLine = token.map?.[0] ?? 0
    } else if (type === 'tr_close') this.#endRow()
    else if (type === 'table_close') this.#endTable()
  }

  #inline(content: string): void {
    const row = this.#rows?.at(-1)
    if (row !== undefined) {
      row.push(content)
      return
    }
    const source = this.#opensQuote ? content.replace(CALLOUT, '') : content
    this.#opensQuote = false
    if (this.#lists > 0) {
      this.#list.push({ before: this.#prefix, source })
      this.#prefix = this.#indent(this.#lists)
    } else if (this.#level === undefined || this.#quotes > 0) this.#add({ type: 'paragraph', source })
    else this.#add({ type: 'heading', source, level: this.#level })
  }

  #add(draft: MarkdownDraft): void {
    this.drafts.push(this.#inNote ? { ...draft, continues: true } : draft)
  }

  #indent(lists: number): string {
    return '  '.repeat(Math.min(MAX_INDENT, lists))
  }

  /** Blocks of HTML with nothing between them but blank lines are parts of one page. */
  #html(source: string): void {
    this.#endList()
    const last = this.drafts.at(-1)
    if (last?.type === 'html') last.source += source
    else this.#add({ type: 'html', source })
  }

  #code({ info, content }: Token): void {
    this.#endList()
    const language = /^\s*([^\s`{,]+)/.exec(info)?.[1]
    const metadata = language === undefined ? {} : { metadata: { language } }
    this.#add({ type: 'code', block: { type: 'code', text: content, ...metadata } })
  }

  /** Cells beyond those of the first row, which no browser displays, are kept as text. */
  #endRow(): void {
    const row = this.#rows?.at(-1) ?? []
    this.#lines ??= this.#text.split('\n')
    const cells = (this.#lines[this.#rowLine] ?? '').replace(ROW_START, '').split(/(?<!\\)\|/)
    if (cells.at(-1)?.trim() === '') cells.pop()
    for (const cell of cells.slice(row.length)) row.push(cell.replaceAll('\\|', '|').trim())
  }

  #endTable(): void {
    this.#endList()
    if (this.#rows !== undefined) this.#add({ type: 'table', rows: this.#rows })
    this.#rows = undefined
  }

  #endList(): void {
    if (this.#list.length > 0) this.#add({ type: 'list', lines: this.#list })
    this.#list = []
  }
}
