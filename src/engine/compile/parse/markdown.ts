import { readFrontMatter } from './front-matter.js'
import { inlineText } from './inline-markdown.js'
import type { Block, Parsed, Parser, Picture } from './parsed.js'
import { pictureFrom } from './pictures.js'
import { tableBlocks } from './tables.js'

const FENCE = /^\s*(`{3,}|~{3,})\s*([^\s`{,]*)/
const LIST_ITEM = /^(\s*)([-*+]|\d{1,9}[.)])(?:\s+([\s\S]*))?$/
const RULE = /^ {0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$/
const SETEXT = /^ {0,3}(=+|-+)[ \t]*$/
const TABLE_DELIMITER = /^\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?$/
const LINK_DEFINITION = /^ {0,3}\[[^\]^][^\]]{0,200}\]:[ \t]*\S/
const RAW_HTML = /^\s*<(script|style)[\s>]/i

/**
 * Reads Markdown (CommonMark blocks, GitHub tables and task lists, front matter) in one pass over its lines.
 *
 * A scanner of our own instead of a full syntax tree: a note of 1 KB takes some 30 µs where remark takes milliseconds,
 * and no input makes it slower than linear. What it gives up is rare in notes: blocks nested in quotes and list items
 * come out as lines of their quote or list.
 */
export const markdownParser: Parser = {
  accepts: (mediaType) => mediaType === 'text/markdown',
  parse: (input) => parseMarkdown(input.text()),
}

/** @param source decoded text with any line ends */
export function parseMarkdown(source: string): Parsed {
  const text = source.includes('\r') ? source.replace(/\r\n?/g, '\n') : source
  const front = readFrontMatter(text)
  const blocks = new MarkdownReader(text.slice(front.length)).read()
  const parsed: Parsed = {
    parser: 'native-markdown',
    contentType: 'text',
    blocks,
    metadata: front.data === undefined ? {} : { frontMatter: front.data },
  }
  const { title, lang } = front.data ?? {}
  if (typeof title === 'string' && title.trim() !== '') parsed.title = title
  if (typeof lang === 'string' && lang.trim() !== '') parsed.language = lang
  return parsed
}

class MarkdownReader {
  readonly #lines: string[]
  readonly #blocks: Block[] = []
  #paragraph: string[] = []
  #list: string[] = []
  /** a blank line was read since the last line of the list */
  #listPaused = false
  #next = 0
  /** no comment that is open after this line ever ends */
  readonly #lastCommentEnd: number

  constructor(text: string) {
    this.#lines = text.split('\n')
    this.#lastCommentEnd = text.includes('<!--') ? this.#lines.findLastIndex((line) => line.includes('-->')) : -1
  }

  read(): Block[] {
    while (this.#next < this.#lines.length) this.#line(this.#lines[this.#next++] ?? '')
    this.#close()
    return this.#blocks
  }

  #line(raw: string): void {
    const quoted = /^ {0,3}>/.test(raw)
    const unquoted = quoted ? raw.replace(/^[ \t]*(?:>[ \t]?)+/, '').replace(/^\[![\w-]+\][+-]?/, '') : raw
    const line = unquoted.includes('<!--') ? this.#skipComment(unquoted) : unquoted
    if (line.trim() === '') {
      this.#blank()
      return
    }
    if (this.#fence(line)) return
    if (!quoted && this.#heading(line)) return
    if (RULE.test(line)) {
      this.#close()
      return
    }
    if (this.#listLine(line)) return
    if (this.#table(line)) return
    if (this.#paragraph.length === 0 && this.#special(line)) return
    this.#paragraph.push(line)
  }

  #blank(): void {
    this.#flushParagraph()
    if (this.#list.length > 0) this.#listPaused = true
  }

  #close(): void {
    this.#flushParagraph()
    this.#flushList()
  }

  /** A comment over several lines vanishes; one within a line is the inline reader's. */
  #skipComment(line: string): string {
    const open = line.lastIndexOf('<!--')
    if (line.includes('-->', open) || this.#next > this.#lastCommentEnd) return line
    if ((line.slice(0, open).split('`').length - 1) % 2 === 1) return line
    for (; this.#next <= this.#lastCommentEnd; this.#next++) {
      const end = this.#lines[this.#next]?.indexOf('-->') ?? -1
      if (end !== -1) return `${line.slice(0, open)}${this.#lines[this.#next++]?.slice(end + 3) ?? ''}`
    }
    return line
  }

  #fence(line: string): boolean {
    const open = FENCE.exec(line)
    const mark = open?.[1]
    if (open === null || mark === undefined) return false
    if (mark.startsWith('`') && line.indexOf('`', open[0].length) !== -1) return false
    this.#close()
    const code: string[] = []
    while (this.#next < this.#lines.length) {
      const inner = this.#lines[this.#next++] ?? ''
      const trimmed = inner.trim()
      if (trimmed.startsWith(mark) && trimmed === mark.charAt(0).repeat(trimmed.length)) break
      code.push(inner)
    }
    const language = open[2] ?? ''
    this.#blocks.push({ type: 'code', text: code.join('\n'), ...(language === '' ? {} : { metadata: { language } }) })
    return true
  }

  #heading(line: string): boolean {
    const level = atxLevel(line)
    if (level > 0) {
      this.#close()
      this.#pushInline('heading', withoutClosingHashes(line.trim().slice(level)), level)
      return true
    }
    const under = this.#paragraph.length > 0 && this.#list.length === 0 ? SETEXT.exec(line)?.[1] : undefined
    if (under === undefined) return false
    const text = this.#paragraph.join(' ')
    this.#paragraph = []
    this.#pushInline('heading', text, under.startsWith('=') ? 1 : 2)
    return true
  }

  /** A list item, or a line that goes on with one. */
  #listLine(line: string): boolean {
    const item = LIST_ITEM.exec(line)
    const interrupts = this.#paragraph.length === 0 || (item?.[3] !== undefined && !/^\d*[2-9]/.test(item[2] ?? ''))
    if (item !== null && interrupts) {
      this.#flushParagraph()
      const indent = '  '.repeat(Math.min(8, Math.floor((item[1] ?? '').length / 2)))
      this.#list.push(`${indent}${item[2] ?? '-'} ${item[3] ?? ''}`)
      this.#listPaused = false
      return true
    }
    if (this.#list.length === 0) return false
    if (this.#listPaused && !/^\s{2,}/.test(line)) {
      this.#flushList()
      return false
    }
    this.#list.push(this.#listPaused ? `  ${line.trim()}` : line.trim())
    this.#listPaused = false
    return true
  }

  #table(line: string): boolean {
    const delimiter = this.#lines[this.#next]
    if (delimiter === undefined || !line.includes('|') || !delimiter.includes('-')) return false
    if (!TABLE_DELIMITER.test(delimiter.trim())) return false
    if (cells(delimiter).length !== cells(line).length) return false
    this.#close()
    const rows = [this.#cells(line)]
    this.#next++
    while (this.#next < this.#lines.length) {
      const row = this.#lines[this.#next] ?? ''
      if (row.trim() === '' || atxLevel(row) > 0 || FENCE.test(row)) break
      if (!row.includes('|') && (LIST_ITEM.test(row) || row.startsWith('>'))) break
      rows.push(this.#cells(row))
      this.#next++
    }
    this.#blocks.push(...tableBlocks(rows, true))
    return true
  }

  #cells(line: string): string[] {
    return cells(line).map((cell) => inlineText(cell))
  }

  /** Indented code, link definitions, raw scripts: what only counts where no paragraph is open. */
  #special(line: string): boolean {
    if (line.startsWith('    ') || line.startsWith('\t')) {
      const code = [line]
      while (/^(?: {4}|\t|\s*$)/.test(this.#lines[this.#next] ?? 'x')) code.push(this.#lines[this.#next++] ?? '')
      this.#blocks.push({ type: 'code', text: code.map((part) => part.replace(/^(?: {4}|\t)/, '')).join('\n') })
      return true
    }
    if (LINK_DEFINITION.test(line)) return true
    const raw = RAW_HTML.exec(line)?.[1]
    if (raw === undefined) return false
    const end = `</${raw.toLowerCase()}`
    let from = this.#next
    if (!line.toLowerCase().includes(end)) {
      while (from < this.#lines.length && !(this.#lines[from] ?? '').toLowerCase().includes(end)) from++
      if (from === this.#lines.length) return false
      from++
    }
    this.#next = from
    return true
  }

  #flushParagraph(): void {
    if (this.#paragraph.length === 0) return
    const lines = this.#paragraph
    this.#paragraph = []
    let text = ''
    for (const [index, line] of lines.entries()) {
      const hardBreak = line.endsWith('  ') || (line.endsWith('\\') && index < lines.length - 1)
      const body = line.endsWith('\\') && hardBreak ? line.slice(0, -1) : line
      text += `${body.trim()}${index === lines.length - 1 ? '' : hardBreak ? '\n' : ' '}`
    }
    this.#pushInline('paragraph', text)
  }

  #flushList(): void {
    if (this.#list.length === 0) return
    const text = this.#list.join('\n')
    this.#list = []
    this.#listPaused = false
    this.#pushInline('list', text)
  }

  #pushInline(type: 'heading' | 'paragraph' | 'list', source: string, level?: number): void {
    const pictures: Picture[] = []
    const text = inlineText(source, pictures)
    const onlyPicture = type === 'paragraph' && pictures.length === 1 && /^!\[[^\]]*\]\([^)]*\)$/.test(source.trim())
    if (!onlyPicture) this.#blocks.push({ type, text, ...(level === undefined ? {} : { level }) })
    for (const picture of pictures) {
      const kept = 'uri' in picture ? pictureFrom(picture.uri) : picture
      if (kept !== undefined) this.#blocks.push({ type: 'image', text: onlyPicture ? text : '', picture: kept })
      else if (onlyPicture) this.#blocks.push({ type: 'paragraph', text })
    }
  }
}

function atxLevel(line: string): number {
  let at = 0
  while (at < 3 && line.charAt(at) === ' ') at++
  let level = 0
  while (level < 7 && line.charAt(at + level) === '#') level++
  if (level === 0 || level > 6) return 0
  const after = line.charAt(at + level)
  return after === '' || after === ' ' || after === '\t' ? level : 0
}

function withoutClosingHashes(title: string): string {
  let end = title.length
  while (end > 0 && title.charAt(end - 1) === '#') end--
  if (end === title.length) return title.trim()
  return end === 0 || /\s/.test(title.charAt(end - 1)) ? title.slice(0, end).trim() : title.trim()
}

/** Cells of a table row: `|` separates unless escaped or in a code span. */
function cells(line: string): string[] {
  let row = line.trim()
  if (row.startsWith('|')) row = row.slice(1)
  if (row.endsWith('|') && !row.endsWith('\\|')) row = row.slice(0, -1)
  if (!row.includes('\\|')) return row.split('|').map((cell) => cell.trim())
  return row.split(/(?<!\\)\|/).map((cell) => cell.replaceAll('\\|', '|').trim())
}
