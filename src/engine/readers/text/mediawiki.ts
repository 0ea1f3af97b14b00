import type { Block } from '../parsed.js'
import { buildTableBlocks } from '../tables.js'
import { prepareWikiSource, type WikiSource, wikiToText } from './mediawiki-source.js'
import { iterateLines } from './text.js'

const HEADING = /^(={1,6})\s*([^=\n][^\n]{0,500}?)\s*={1,6}\s*$/

/**
 * Reads a page of MediaWiki markup: headings, lists, tables, code, the fields of its infobox, its categories.
 *
 * @param levelOffset added to the levels of its headings
 */
export function readWikiBlocks(source: string, levelOffset = 0): { blocks: Block[]; categories: string[] } {
  const prepared = prepareWikiSource(source)
  const reader = new WikiReader(prepared, levelOffset)
  for (const line of iterateLines(prepared.text)) reader.line(line)
  return { blocks: reader.finish(), categories: prepared.categories }
}

class WikiReader {
  readonly #blocks: Block[] = []
  readonly #source: WikiSource
  readonly #levelOffset: number
  #pendingLines: string[] = []
  #items: string[] = []
  /** depth of open tables; nested tables are read as part of their cell */
  #tableDepth = 0
  #rows: string[][] = []
  #hasHeader = false
  #caption = ''

  constructor(source: WikiSource, levelOffset: number) {
    this.#source = source
    this.#levelOffset = levelOffset
    if (source.fields.length > 0) this.#blocks.push({ type: 'list', text: source.fields.join('\n') })
  }

  line(line: string): void {
    const keptBlock = this.#source.findKeptBlock(line)
    if (keptBlock !== undefined) {
      this.#flush()
      this.#blocks.push(keptBlock)
    } else if (/^\s*:*\s*\{\|/.test(line)) {
      if (this.#tableDepth === 0) this.#flush()
      this.#tableDepth++
    } else if (this.#tableDepth > 0) this.#tableLine(line.trim())
    else this.#textLine(line)
  }

  finish(): Block[] {
    if (this.#tableDepth > 0) this.#endTable()
    this.#flush()
    return this.#blocks
  }

  #textLine(line: string): void {
    const heading = HEADING.exec(line)
    if (heading !== null) {
      this.#flush()
      const level = (heading[1]?.length ?? 1) + this.#levelOffset
      this.#blocks.push({ type: 'heading', text: wikiToText(heading[2] ?? ''), level })
    } else if (/^[*#;:]/.test(line)) {
      this.#flushText()
      const marks = /^[*#;:]{1,20}/.exec(line)?.[0] ?? '*'
      const text = wikiToText(line.slice(marks.length))
      if (text !== '') this.#items.push(`${'  '.repeat(marks.length - 1)}${marks.endsWith('#') ? '1.' : '-'} ${text}`)
    } else if (line.trim() === '' || /^-{4,}\s*$/.test(line)) this.#flush()
    else {
      this.#flushItems()
      this.#pendingLines.push(line)
    }
  }

  #tableLine(line: string): void {
    if (line.startsWith('|}')) {
      this.#tableDepth--
      if (this.#tableDepth === 0) this.#endTable()
    } else if (this.#tableDepth > 1) this.#addToCell(removeCellFormat(line.replace(/^[|!]+[-+}]?/, '')))
    else if (line.startsWith('|+')) this.#caption = wikiToText(removeCellFormat(line.slice(2)))
    else if (line.startsWith('|-')) this.#rows.push([])
    else if (line.startsWith('|') || line.startsWith('!')) this.#cells(line)
    else this.#addToCell(line)
  }

  #cells(line: string): void {
    const isHeader = line.startsWith('!')
    if (this.#rows.length === 0) this.#rows.push([])
    if (isHeader && this.#rows.length === 1) this.#hasHeader = true
    const row = this.#rows.at(-1)
    const cells = line.slice(1).split(isHeader ? /!!|\|\|/ : '||')
    for (const cell of cells) row?.push(wikiToText(removeCellFormat(cell)))
  }

  #addToCell(line: string): void {
    const row = this.#rows.at(-1)
    const last = row?.at(-1)
    const text = wikiToText(line.replace(/^[*#:;]+/, ''))
    if (row !== undefined && last !== undefined && text !== '') row[row.length - 1] = `${last} ${text}`.trim()
  }

  #endTable(): void {
    const rows = this.#rows.filter((row) => row.some((cell) => cell !== ''))
    const caption = this.#caption === '' ? {} : { caption: this.#caption }
    if (this.#caption !== '')
      this.#blocks.push({ type: 'paragraph', text: this.#caption, metadata: { role: 'caption' } })
    if (rows.length > 0) this.#blocks.push(...buildTableBlocks(rows, this.#hasHeader, caption))
    this.#tableDepth = 0
    this.#rows = []
    this.#hasHeader = false
    this.#caption = ''
  }

  #flush(): void {
    this.#flushText()
    this.#flushItems()
  }

  #flushText(): void {
    const text = wikiToText(this.#pendingLines.join(' '))
    this.#pendingLines = []
    if (text !== '') this.#blocks.push({ type: 'paragraph', text })
  }

  #flushItems(): void {
    if (this.#items.length > 0) this.#blocks.push({ type: 'list', text: this.#items.join('\n') })
    this.#items = []
  }
}

/** Removes the format of a cell, which precedes a bar: `style="x" | text`. */
function removeCellFormat(cell: string): string {
  const bar = cell.indexOf('|')
  return bar > 0 && /^[^[\]{}|]*=[^[\]{}|]*$/.test(cell.slice(0, bar)) ? cell.slice(bar + 1) : cell
}
