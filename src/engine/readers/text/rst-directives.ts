import { parse } from 'csv-parse/sync'
import { readHtml } from '../markup/html.js'
import type { Block } from '../parsed.js'
import { parsePictureSource } from '../pictures.js'
import { buildTableBlocks } from '../tables.js'
import { createCellReader, toRstText } from './rst-cells.js'
import type { RstDocument } from './rst-document.js'
import { isBlank, LineCursor } from './rst-lines.js'

const CODE = new Set(
  'code code-block sourcecode parsed-literal highlight doctest testcode testoutput testsetup prompt console ipython graphviz digraph graph mermaid uml plantuml productionlist literal'.split(
    ' ',
  ),
)
/** Directives without an argument: their text begins right after their name. */
const BODIES = new Set(
  'note warning attention caution danger error hint important tip seealso todo epigraph highlights pull-quote compound header footer line-block parsed-literal'.split(
    ' ',
  ),
)
/** Directives whose argument is no text. */
const UNSHOWN_ARGUMENTS = new Set(
  'class container cssclass rst-class only ifconfig contents role default-role default-domain sectnum section-numbering target-notes restructuredtext-test-directive meta highlightlang'.split(
    ' ',
  ),
)
const INCLUDES = new Set(['include', 'literalinclude', 'csv-include', 'graphviz-include'])
const OPTION = /^:([\w-]{1,60}):(?: +(.*))?$/

export interface RstDirective {
  name: string
  /** the rest of its line, and its indented lines */
  lines: readonly string[]
}

interface DirectiveParts {
  argument: string[]
  options: Map<string, string>
  content: string[]
}

/** Reads a directive; an unknown one becomes its argument and its content. */
export function readRstDirective({ name, lines }: RstDirective, document: RstDocument, depth: number): Block[] {
  const { argument, options, content } = splitDirective(name, lines)
  const file = INCLUDES.has(name) ? argument.join(' ') : (options.get('file') ?? options.get('url'))
  if (file !== undefined) document.unread.add(file)
  if (INCLUDES.has(name)) return []
  const readNested = (body: readonly string[]): Block[] => document.readBlocks(body, depth)
  const title = toRstText(readNested(argument))
  if (CODE.has(name)) {
    const language = argument.join(' ')
    const text = content.join('\n')
    return isBlank(text) ? [] : [{ type: 'code', text, ...(language === '' ? {} : { metadata: { language } }) }]
  }
  if (name === 'image' || name === 'figure') return [...readImage(argument, options), ...readNested(content)]
  if (name === 'table') return addCaption(readNested(content), title)
  if (name === 'list-table' || name === 'csv-table') {
    const rows = name === 'list-table' ? splitListRows(content) : readCsvRows(content, options)
    if (rows === undefined) return [{ type: 'code', text: content.join('\n') }]
    const cells = createCellReader(document, depth)
    const texts = rows.map((row) => row.map(cells.toText))
    const headerRows = Number(options.get('header-rows') ?? 0) + (options.has('header') ? 1 : 0)
    const heads = { headerRows: toCount(headerRows), headColumns: toCount(Number(options.get('stub-columns') ?? 0)) }
    return [...addCaption(buildTableBlocks(texts, heads), title), ...cells.tables]
  }
  if (name === 'raw') return readRaw(argument.join(' '), content, document)
  const isShown = !UNSHOWN_ARGUMENTS.has(name) && title !== ''
  return [...(isShown ? [{ type: 'paragraph', text: title } satisfies Block] : []), ...readNested(content)]
}

function toCount(value: number): number {
  return Number.isSafeInteger(value) && value > 0 ? value : 0
}

/** Splits a directive into its argument, its options and its content, which a blank line precedes. */
function splitDirective(name: string, lines: readonly string[]): DirectiveParts {
  const options = new Map<string, string>()
  const cursor = new LineCursor(lines)
  if (isBlank(cursor.line ?? '')) cursor.next++
  const isOption = (line: string): boolean => OPTION.test(line)
  const hasArgument = !isBlank(lines[0] ?? '') && !BODIES.has(name)
  const argument = hasArgument ? cursor.takeWhile((line) => !isBlank(line) && !isOption(line)) : []
  let key = ''
  for (const line of cursor.takeWhile((next) => isOption(next) || (key !== '' && next.startsWith(' ')))) {
    const option = OPTION.exec(line)
    key = option?.[1] ?? key
    options.set(key, option === null ? `${options.get(key) ?? ''}\n${line.trim()}` : (option[2] ?? ''))
  }
  cursor.skipBlank()
  return { argument, options, content: cursor.takeWhile(() => true) }
}

function readImage(argument: readonly string[], options: ReadonlyMap<string, string>): Block[] {
  const picture = parsePictureSource(argument.join(''))
  const text = options.get('alt') ?? ''
  return picture === undefined ? (text === '' ? [] : [{ type: 'paragraph', text }]) : [{ type: 'image', text, picture }]
}

function addCaption(blocks: Block[], caption: string): Block[] {
  if (caption === '') return blocks
  if (!blocks.some(({ type }) => type === 'table')) return [{ type: 'paragraph', text: caption }, ...blocks]
  return blocks.map((block) =>
    block.type === 'table' ? { ...block, metadata: { ...block.metadata, caption } } : block,
  )
}

/** HTML is read as a page; raw text of other formats is no text. */
function readRaw(format: string, content: readonly string[], document: RstDocument): Block[] {
  if (/\bhtml\b/i.test(format)) return readHtml(content.join('\n')).blocks
  if (content.length > 0) document.unread.add(`raw ${format}`)
  return []
}

/** The cells of a list of lists; undefined for another structure. */
function splitListRows(content: readonly string[]): string[][][] | undefined {
  const rows = splitItems(content)?.map(splitItems)
  const complete = rows?.filter((row) => row !== undefined)
  return complete?.length === rows?.length ? complete : undefined
}

function splitItems(lines: readonly string[]): string[][] | undefined {
  const items: string[][] = []
  const cursor = new LineCursor(lines)
  for (cursor.skipBlank(); cursor.line !== undefined; cursor.skipBlank()) {
    const mark = /^[-+*•] *(?= |$)/.exec(cursor.line)?.[0]
    if (mark === undefined) return undefined
    const offset = Math.min(cursor.line.length, mark.length + 1)
    items.push(cursor.takeKnownIndented(offset))
  }
  return items
}

/** The rows of a table in CSV, with those of its option `header`; undefined if it is malformed. */
function readCsvRows(content: readonly string[], options: ReadonlyMap<string, string>): string[][][] | undefined {
  const delimiter = options.get('delim') ?? ','
  const settings = {
    delimiter: delimiter === 'tab' ? '\t' : delimiter === 'space' ? ' ' : delimiter,
    quote: options.get('quote') ?? '"',
    ltrim: true,
    relax_column_count: true,
    relax_quotes: true,
    skip_empty_lines: true,
  }
  try {
    const head: string[][] = parse(options.get('header') ?? '', settings)
    const rows: string[][] = parse(content.join('\n'), settings)
    return [...head, ...rows].map((row) => row.map((cell) => cell.split('\n')))
  } catch {
    return undefined
  }
}
