import { omitUndefined } from '../../../lib/omit-undefined.js'
import { ReadError } from '../limits.js'
import type { Block, ParsedDocument, Parser, ParserInput } from '../parsed.js'
import { parsePictureSource } from '../pictures.js'
import { buildTableBlocks } from '../tables.js'
import { asciidocToText, parseAsciidocTable } from './asciidoc-inline.js'

const HEADING = /^(={1,6}|#{1,6})\s+(\S[^\n]{0,500})$/
const ATTRIBUTE = /^:(!?[\w-]{1,80}!?):(?:\s+([^\n]*))?$/
const LIST = /^\s*(\*{1,6}|-|\.{1,6}|\d{1,4}\.|<\d{1,3}>|<\.>)\s+(\S[^\n]*)$/
const TERM = /^\s*(\S[^\n]{0,300}?)(:{2,4}|;;)(?:\s+([^\n]*))?$/
/** A style whose name readers see as the label of the text. */
const ADMONITION = /^(?:NOTE|TIP|IMPORTANT|WARNING|CAUTION)$/
const FENCE = /^(?:-{4,}|\.{4,}|={4,}|\*{4,}|_{4,}|\+{4,}|\/{4,}|--|```[\w+#-]{0,30}|\|={3,}|,={3,}|:={3,})\s*$/
const MAX_INCLUDES = 20

/** Reads AsciiDoc: headings, lists, tables with headers, code, pictures. Included files are listed, not read. */
export const asciidocParser: Parser = {
  parse: parseAsciidoc,
}

function parseAsciidoc(input: ParserInput): ParsedDocument {
  const reader = new AsciidocReader(input.text().split(/\r?\n/))
  const blocks = reader.read()
  if (!blocks.some((block) => block.text !== '')) throw new ReadError('empty', `${input.filename} has no text`)
  const { attributes, authors, title, includes } = reader
  return {
    parser: 'unstructured',
    contentType: 'text',
    ...omitUndefined({ title, language: attributes.get('lang') }),
    blocks,
    metadata: {
      ...(authors.length === 0 ? {} : { authors }),
      ...omitUndefined({ created: attributes.get('revdate'), description: attributes.get('description') }),
      ...(includes.length === 0 ? {} : { warnings: [`not followed: ${includes.join(', ')}`] }),
    },
  }
}

class AsciidocReader {
  readonly attributes = new Map<string, string>()
  readonly authors: string[] = []
  readonly includes: string[] = []
  title: string | undefined
  readonly #lines: string[]
  readonly #blocks: Block[] = []
  #lineIndex = 0
  #pendingLines: string[] = []
  #items: string[] = []
  /** style in square brackets and title of the next block */
  #style = ''
  #caption = ''
  /** delimiters of open blocks whose content is read as text */
  #open: string[] = []
  #continues = false
  /** a blank line ended the previous item */
  #ended = false

  constructor(lines: string[]) {
    this.#lines = lines
  }

  read(): Block[] {
    while (this.#lineIndex < this.#lines.length) this.#line(this.#lines[this.#lineIndex++] ?? '')
    this.#flush()
    return this.#blocks
  }

  #line(line: string): void {
    const heading = HEADING.exec(line)
    const attribute = ATTRIBUTE.exec(line)
    if (attribute !== null && this.#pendingLines.length === 0) this.#attribute(attribute)
    else if (line.startsWith('//') && !/^\/{4,}\s*$/.test(line)) return
    else if (/^(?:include|ifdef|ifndef|ifeval|endif)::/.test(line)) this.#directive(line)
    else if (FENCE.test(line)) this.#fence(line.trimEnd())
    else if (heading !== null && this.#pendingLines.length === 0) this.#heading(heading)
    else if (/^\[[^\]\n]{0,500}\]\s*$/.test(line) && this.#pendingLines.length === 0)
      this.#style = line.trim().slice(1, -1)
    else if (/^\.[^\s.][^\n]{0,500}$/.test(line) && this.#pendingLines.length === 0) this.#caption = line.slice(1)
    else if (/^image::/.test(line)) this.#image(line)
    else if (line.trim() === '') this.#flushText()
    else if (line.trim() === '+') this.#continues = true
    else if (/^(?:'{3,}|<<<|toc::\[\]|-{3}|\*{3})\s*$/.test(line)) this.#flush()
    else this.#text(line)
  }

  #attribute([, name = '', value = '']: RegExpExecArray): void {
    if (this.attributes.size < 500) this.attributes.set(name, value.trim().slice(0, 1000))
    if (name === 'author') this.authors.push(value.trim())
  }

  #directive(line: string): void {
    const file = /^include::([^[\]\n]{1,200})/.exec(line)?.[1]
    if (file !== undefined && this.includes.length < MAX_INCLUDES) this.includes.push(file)
  }

  #heading([, marks = '', text = '']: RegExpExecArray): void {
    this.#flush()
    const words = this.#inline(text)
    this.#style = ''
    if (marks.length === 1 && this.title === undefined && this.#blocks.length === 0) {
      this.title = words
      this.#blocks.push({ type: 'title', text: words, level: 1 })
      this.#byline()
      return
    }
    this.#blocks.push({ type: 'heading', text: words, level: Math.max(1, marks.length - 1) })
  }

  /** Reads author and revision, which follow the title. */
  #byline(): void {
    const author = /^([\p{L}][\p{L}\s.'-]{1,100}?)(?:\s<[^<>\n]{1,100}>)?(?:;|$)/u
    const line = this.#lines[this.#lineIndex] ?? ''
    if (line.trim() === '' || line.startsWith(':') || line.startsWith('//') || !author.test(line)) return
    for (const authorText of line.split(';')) {
      const name = author.exec(authorText.trim())?.[1]?.trim()
      if (name !== undefined) this.authors.push(name)
    }
    this.#lineIndex++
    const revision = /^(?:v[\d.]{1,20},?\s?)?(\d{4}-\d{2}-\d{2})/.exec(this.#lines[this.#lineIndex] ?? '')
    if (revision === null) return
    this.attributes.set('revdate', revision[1] ?? '')
    this.#lineIndex++
  }

  #image(line: string): void {
    this.#flush()
    const match = /^image::([^[\]\n]{1,500})\[([^\]\n]{0,500})\]/.exec(line)
    const picture = parsePictureSource(match?.[1] ?? '')
    const alt = this.#caption === '' ? (match?.[2]?.split(',')[0] ?? '').replace(/"/g, '') : this.#caption
    this.#caption = ''
    if (picture !== undefined) this.#blocks.push({ type: 'image', text: this.#inline(alt), picture })
  }

  #fence(mark: string): void {
    if (this.#open.at(-1) === mark) {
      this.#flush()
      this.#open.pop()
      this.#style = ''
      return
    }
    this.#flush()
    const style = this.#style
    const kind = mark.charAt(0)
    const isListing = /^(?:source|listing|literal)/.test(style)
    if (kind === '/' || kind === '+') this.#body(mark)
    else if (mark.endsWith('===') && /^[|,:]/.test(mark)) this.#table(this.#body(mark), style, kind)
    else if (/^-{4,}$|^\.{4,}$/.test(mark) || mark.startsWith('`') || (mark === '--' && isListing))
      this.#code(mark, style)
    else {
      if (this.#open.length < 50) this.#open.push(mark)
      this.#takeCaption()
      // labels the first paragraph inside
      if (ADMONITION.test(style)) return
    }
    this.#style = ''
  }

  /** The lines up to the closing delimiter, which equals the opening one. */
  #body(mark: string): string[] {
    const end = mark.startsWith('`') ? '```' : mark
    const body: string[] = []
    while (this.#lineIndex < this.#lines.length) {
      const line = this.#lines[this.#lineIndex++] ?? ''
      if (line.trimEnd() === end) break
      body.push(line)
    }
    return body
  }

  #code(mark: string, style: string): void {
    const language = mark.startsWith('`')
      ? mark.slice(3)
      : (/^source%?\w{0,20},\s?([\w+#-]{1,30})/.exec(style)?.[1] ?? '')
    this.#takeCaption()
    const text = this.#body(mark)
      .map((line) => line.replace(/\s+(?:\/\/|#|;;)?\s?<\d{1,3}>\s*$/, ''))
      .join('\n')
    this.#blocks.push({ type: 'code', text, ...(language === '' ? {} : { metadata: { language } }) })
  }

  #table(body: string[], style: string, kind: string): void {
    const { rows, hasHeader } = parseAsciidocTable(body, style, kind)
    const caption = this.#inline(this.#caption)
    this.#takeCaption()
    const textRows = rows.map((row) => row.map((cell) => this.#inline(cell)))
    if (textRows.length > 0)
      this.#blocks.push(...buildTableBlocks(textRows, hasHeader, caption === '' ? {} : { caption }))
  }

  #takeCaption(): void {
    const text = this.#inline(this.#caption)
    this.#caption = ''
    if (text !== '') this.#blocks.push({ type: 'paragraph', text, metadata: { role: 'caption' } })
  }

  #text(line: string): void {
    const item = this.#pendingLines.length === 0 || this.#items.length > 0 ? LIST.exec(line) : null
    const term = item === null && this.#pendingLines.length === 0 ? TERM.exec(line) : null
    if (item !== null) {
      this.#flushText()
      const [, mark = '', text = ''] = item
      const depth = /^[*.]/.test(mark) ? mark.length - 1 : 0
      this.#items.push(`${'  '.repeat(depth)}${/^[.\d<]/.test(mark) ? '1.' : '-'} ${this.#inline(text)}`)
    } else if (term !== null) {
      this.#items.push(`- ${this.#inline(term[1] ?? '')}: ${this.#inline(term[3] ?? '')}`.trimEnd())
    } else if (this.#items.length > 0 && (this.#continues || this.#pendingLines.length === 0) && !this.#ended) {
      this.#items[this.#items.length - 1] += ` ${this.#inline(line)}`
    } else {
      if (this.#pendingLines.length === 0) this.#flushItems()
      this.#pendingLines.push(line)
    }
    this.#continues = false
    this.#ended = false
  }

  #flushText(): void {
    this.#ended = this.#items.length > 0
    if (this.#pendingLines.length === 0) return
    const lines = this.#pendingLines
    this.#pendingLines = []
    this.#flushItems()
    this.#takeCaption()
    const literal = lines.every((line) => /^\s/.test(line))
    const text = lines.map((line) => line.trim()).join(' ')
    const style = this.#style
    this.#style = ''
    if (literal && this.#open.length === 0) this.#blocks.push({ type: 'code', text: lines.join('\n') })
    else if (/^(?:source|listing)/.test(style)) this.#blocks.push({ type: 'code', text: lines.join('\n') })
    else {
      const label = ADMONITION.test(style) ? `${style}: ` : ''
      this.#blocks.push({ type: 'paragraph', text: this.#inline(`${label}${text}`) })
    }
  }

  #flushItems(): void {
    if (this.#items.length > 0) this.#blocks.push({ type: 'list', text: this.#items.join('\n') })
    this.#items = []
    this.#ended = false
  }

  #flush(): void {
    this.#flushText()
    this.#flushItems()
  }

  #inline(text: string): string {
    return asciidocToText(text, this.attributes)
  }
}
