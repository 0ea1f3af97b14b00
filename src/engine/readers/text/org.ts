import { omitUndefined } from '../../../lib/omit-undefined.js'
import { readHtml } from '../markup/html.js'
import type { Block, DeclaredFields, ParsedDocument, Parser } from '../parsed.js'
import { buildTableBlocks } from '../tables.js'
import { iterateLines } from './text.js'

const HEADING = /^(\*{1,20})\s+(\S[\s\S]*|)$/
const PRIORITY = /^\[#[A-Z0-9]{1,2}\]\s+/
const BLOCK_BEGIN = /^\s*#\+begin_(\w+)\s*(\S*)/i
/** Blocks whose lines are no markup. */
const OPAQUE_BLOCK = /^(?:src|example|comment|export|html|latex|ascii)$/
const KEYWORD = /^\s*#\+(\w+)(?:\[[^\]]{0,200}\])?:\s*(\S[\s\S]*)?$/
const DRAWER = /^\s*:([\w-]{1,60}):\s*$/
const DRAWER_END = /^\s*:END:\s*$/i
const PLANNING = /^\s*(?:(?:SCHEDULED|DEADLINE|CLOSED):\s*[<[][^\]>]{0,100}[\]>](?:--[<[][^\]>]{0,100}[\]>])?\s*)+$/
const LIST_ITEM = /^\s*(?:[-+]|\d+[.)]|\s\*)\s/
const FIXED_WIDTH = /^\s*:(?: |$)/

/** Reads Org files: headings, blocks, tables, lists, inline markup as text. */
export const orgParser: Parser = {
  parse: (input) => new OrgReader().read(input.text()),
}

class OrgReader {
  readonly #blocks: Block[] = []
  readonly #declared: DeclaredFields = {}
  /** files that the document includes, and formats of raw text that is not read */
  readonly #unread: string[] = []
  #todoKeywords = new Set(['TODO', 'DONE'])
  #pendingLines: string[] = []
  #code: string[] = []
  #table: string[][] = []
  /** rows above the first rule */
  #headerRows: number | undefined
  #block: { kind: string; language: string; lines: string[] } | undefined
  /** lines of an open drawer; they are text if it never ends */
  #drawer: string[] | undefined
  #title: string | undefined

  read(text: string): ParsedDocument {
    for (const line of iterateLines(text)) this.#line(line)
    this.#dissolveDrawer()
    this.#closeBlock()
    this.#flush()
    if (this.#title !== undefined) this.#blocks.unshift({ type: 'title', text: this.#title, level: 1 })
    return {
      parser: 'unstructured',
      contentType: 'text',
      blocks: this.#blocks,
      ...omitUndefined({ title: this.#title }),
      metadata: this.#unread.length === 0 ? {} : { warnings: [`not followed: ${this.#unread.join(', ')}`] },
      declared: this.#declared,
    }
  }

  #line(line: string): void {
    if (this.#block !== undefined) {
      if (new RegExp(`^\\s*#\\+end_${this.#block.kind}\\s*$`, 'i').test(line)) this.#closeBlock()
      else this.#block.lines.push(line)
      return
    }
    if (this.#drawer !== undefined) {
      if (DRAWER_END.test(line)) {
        this.#drawer = undefined
        return
      }
      if (!HEADING.test(line)) {
        this.#drawer.push(line)
        return
      }
      this.#dissolveDrawer()
    }
    const heading = HEADING.exec(line)
    if (heading !== null) this.#heading(heading[1]?.length ?? 1, heading[2] ?? '')
    else if (DRAWER.test(line) && !DRAWER_END.test(line)) this.#drawer = [line]
    else this.#plainLine(line)
  }

  #plainLine(line: string): void {
    const begin = BLOCK_BEGIN.exec(line)
    const kind = begin?.[1]?.toLowerCase() ?? ''
    if (OPAQUE_BLOCK.test(kind)) {
      this.#flush()
      this.#block = { kind, language: begin?.[2] ?? '', lines: [] }
    } else if (begin !== null || /^\s*#\+(?:end_\w+|begin:|end:)/i.test(line)) this.#flush()
    else if (/^\s*#\+/.test(line)) this.#keyword(line)
    else if (FIXED_WIDTH.test(line)) {
      if (this.#code.length === 0) this.#flush()
      this.#code.push(line.replace(/^\s*: ?/, ''))
    } else if (/^\s*#(?:\s|$)/.test(line) || PLANNING.test(line)) return
    else if (line.trim() === '' || /^\s*-{5,}\s*$/.test(line)) this.#flush()
    else this.#content(line)
  }

  /** A drawer without an end is text, as in Org. */
  #dissolveDrawer(): void {
    const lines = this.#drawer ?? []
    this.#drawer = undefined
    for (const line of lines) this.#plainLine(line)
  }

  #heading(level: number, source: string): void {
    this.#flush()
    const [first = ''] = source.split(/\s/, 1)
    const text = (this.#todoKeywords.has(first) ? source.slice(first.length).trimStart() : source)
      .replace(PRIORITY, '')
      .trimEnd()
      .replace(/(?:^|\s):[\p{L}\p{N}_@#%:]+:$/u, '')
      .trimEnd()
    this.#blocks.push({ type: 'heading', text: orgToText(text), level })
  }

  #keyword(line: string): void {
    const [, name = '', value = ''] = KEYWORD.exec(line) ?? []
    const text = value.trim()
    if (text === '') return
    const keyword = name.toLowerCase()
    if (keyword === 'title')
      this.#title = this.#title === undefined ? orgToText(text) : `${this.#title} ${orgToText(text)}`
    else if (keyword === 'author') this.#declared.authors ??= [text]
    else if (keyword === 'date') this.#declared.published ??= text.replace(/^[<[]|[\]>]$/g, '')
    else if (/^(?:seq_|typ_)?todo$/.test(keyword))
      for (const word of text.split(/[\s|]+/)) this.#todoKeywords.add(word.replace(/\(.*$/, ''))
    else if (keyword === 'include' || keyword === 'setupfile') this.#unread.push(text.slice(0, 200))
    else if (keyword === 'caption' || keyword === 'subtitle') {
      this.#flush()
      const role = keyword === 'caption' ? { metadata: { role: 'caption' } } : {}
      this.#blocks.push({ type: 'paragraph', text: orgToText(text), ...role })
    }
  }

  #content(line: string): void {
    if (this.#code.length > 0) this.#flush()
    if (/^\s*\|/.test(line)) {
      if (this.#pendingLines.length > 0) this.#flush()
      this.#tableLine(line.trim())
      return
    }
    if (this.#table.length > 0) this.#flush()
    // A list may follow a paragraph without a blank line.
    if (LIST_ITEM.test(line) && this.#pendingLines.length > 0 && !LIST_ITEM.test(this.#pendingLines[0] ?? ''))
      this.#flush()
    // A line without indentation ends a list.
    if (!/^\s/.test(line) && !LIST_ITEM.test(line) && LIST_ITEM.test(this.#pendingLines[0] ?? '')) this.#flush()
    this.#pendingLines.push(line)
  }

  /** The rows above the first rule are the head; a row of `/` or of widths is no text. */
  #tableLine(line: string): void {
    if (/^\|[-+]+\|?$/.test(line)) {
      this.#headerRows ??= this.#table.length
      return
    }
    const cells = line
      .replace(/^\||\|$/g, '')
      .split('|')
      .map((cell) => cell.trim())
    const isFormat = cells.every((cell) => /^(?:<[lrc]?\d*>|[/<>]|)$/.test(cell)) && cells.some((cell) => cell !== '')
    if (!isFormat) this.#table.push(cells.map((cell) => orgToText(cell.replaceAll('\\vert', '|'))))
  }

  #closeBlock(): void {
    const block = this.#block
    this.#block = undefined
    if (block === undefined || block.lines.length === 0 || block.kind === 'comment') return
    const text = block.lines.join('\n')
    const format = block.kind === 'export' ? block.language.toLowerCase() : block.kind
    if (block.kind === 'src' || block.kind === 'example') {
      const metadata = block.language === '' ? {} : { metadata: { language: block.language } }
      this.#blocks.push({ type: 'code', text, ...metadata })
    } else if (format === 'html') this.#blocks.push(...readHtml(text).blocks)
    else this.#unread.push(`raw ${format}`)
  }

  #flush(): void {
    if (this.#table.length > 0)
      this.#blocks.push(...buildTableBlocks(this.#table, { headerRows: this.#headerRows ?? 1, headColumns: 0 }))
    if (this.#code.length > 0) this.#blocks.push({ type: 'code', text: this.#code.join('\n') })
    this.#table = []
    this.#headerRows = undefined
    this.#code = []
    const pendingLines = this.#pendingLines
    this.#pendingLines = []
    if (pendingLines.length === 0) return
    const isList = LIST_ITEM.test(pendingLines[0] ?? '')
    const text = isList ? pendingLines.join('\n') : pendingLines.map((line) => line.trim()).join(' ')
    this.#blocks.push({ type: isList ? 'list' : 'paragraph', text: orgToText(text) })
  }
}

function orgToText(text: string): string {
  return text
    .replace(/\[\[[^[\]]*\]\[([^[\]]*)\]\]/g, '$1')
    .replace(/\[\[([^[\]]*)\]\]/g, '$1')
    .replace(/<<<?([^<>\n]{1,200})>?>>/g, '')
    .replace(/(^|[\s('"{-])([*/_=~+])([^\s*/_=~+][^\n]{0,200}?)\2(?=$|[\s)'".,;:!?}-])/g, '$1$3')
    .trim()
}
