import type { Block } from '../parsed.js'
import { prepareWikiSource, type WikiSource } from './mediawiki-source.js'
import { WikiTable } from './mediawiki-table.js'
import { iterateLines } from './text.js'

/** Tables deeper in cells are text. */
const MAX_TABLE_DEPTH = 10
/** A rule, or a row of a table that a template begins. */
const RULE = /^(?:-{4,}|\|-[^|]*|\|\})\s*$/
const HEADING = /^(={1,6})\s*([^=\n][^\n]{0,500}?)\s*={1,6}\s*$/

/**
 * Reads a page of MediaWiki markup: headings, lists, tables, code, the fields of its infobox, its categories.
 *
 * @param levelOffset added to the levels of its headings
 */
export function readWikiBlocks(
  source: string,
  levelOffset = 0,
): { blocks: Block[]; categories: string[]; warnings: string[] } {
  const prepared = prepareWikiSource(source)
  const reader = new WikiReader(prepared, levelOffset)
  for (const line of iterateLines(prepared.text)) reader.line(line)
  return { blocks: reader.finish(), categories: prepared.categories, warnings: prepared.warnings }
}

class WikiReader {
  readonly #blocks: Block[] = []
  readonly #source: WikiSource
  readonly #levelOffset: number
  #pendingLines: string[] = []
  #items: string[] = []
  /** open tables, from the outermost one */
  readonly #tables: WikiTable[] = []

  constructor(source: WikiSource, levelOffset: number) {
    this.#source = source
    this.#levelOffset = levelOffset
    if (source.fields.length > 0) this.#blocks.push({ type: 'list', text: source.fields.join('\n') })
  }

  line(line: string): void {
    const keptBlock = this.#source.findKeptBlock(line)
    if (keptBlock !== undefined && this.#tables.length === 0) {
      this.#flush()
      this.#blocks.push(keptBlock)
    } else if (/^\s*:*\s*\{\|/.test(line) && this.#tables.length < MAX_TABLE_DEPTH) {
      if (this.#tables.length === 0) this.#flush()
      this.#tables.push(new WikiTable(this.#source.toText))
    } else if (this.#tables.length > 0) this.#tableLine(line.trim())
    else this.#textLine(line)
  }

  finish(): Block[] {
    while (this.#tables.length > 0) this.#endTable()
    this.#flush()
    return this.#blocks
  }

  #textLine(line: string): void {
    const heading = HEADING.exec(line)
    if (heading !== null) {
      this.#flush()
      const level = (heading[1]?.length ?? 1) + this.#levelOffset
      this.#blocks.push({ type: 'heading', text: this.#source.toText(heading[2] ?? ''), level })
    } else if (/^[*#;:]/.test(line)) {
      this.#flushText()
      const marks = /^[*#;:]{1,20}/.exec(line)?.[0] ?? '*'
      const text = this.#source.toText(line.slice(marks.length))
      if (text !== '') this.#items.push(`${'  '.repeat(marks.length - 1)}${marks.endsWith('#') ? '1.' : '-'} ${text}`)
    } else if (line.trim() === '' || RULE.test(line)) this.#flush()
    else {
      this.#flushItems()
      this.#pendingLines.push(line)
    }
  }

  #tableLine(line: string): void {
    if (!line.startsWith('|}')) {
      this.#tables.at(-1)?.addLine(line)
      return
    }
    this.#endTable()
    const rest = line.slice(2).trim()
    if (rest !== '') this.line(rest)
  }

  #endTable(): void {
    const blocks = this.#tables.pop()?.toBlocks() ?? []
    const outer = this.#tables.at(-1)
    if (outer === undefined) this.#blocks.push(...blocks)
    else outer.addTable(blocks)
  }

  #flush(): void {
    this.#flushText()
    this.#flushItems()
  }

  #flushText(): void {
    const text = this.#source.toText(this.#pendingLines.join(' '))
    this.#pendingLines = []
    if (text !== '') this.#blocks.push({ type: 'paragraph', text })
  }

  #flushItems(): void {
    if (this.#items.length > 0) this.#blocks.push({ type: 'list', text: this.#items.join('\n') })
    this.#items = []
  }
}
