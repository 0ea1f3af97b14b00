import type { Block } from '../parsed.js'
import type { CellSpan } from '../tables/cells.js'
import { buildTableBlocks } from '../tables.js'
import { matchBraces } from './latex-source.js'

/** Parts of a long table: heads and feet of its pages, and the body. */
type TablePart = 'firsthead' | 'head' | 'foot' | 'lastfoot' | 'body'

const TOKEN =
  /\\\\\*?(?:\[[^\]\n]{0,30}\])?|\\tabularnewline\b|\\(begin|end)\s?\{[^{}]{1,40}\}|\\end(firsthead|head|lastfoot|foot)\b|\\(midrule)\b|\\[\s\S]|[{}&]/g
const RULE =
  /\\(?:hline|toprule|midrule|bottomrule|centering|(?:cline|cmidrule|addlinespace|specialrule|morecmidrules)(?:\([lr]{1,2}\))?(?:\[[^\]]{0,40}\])?(?:\{[^{}]{0,40}\}){0,3})(?![A-Za-z])(?:\\noalign\s?\{[^{}]{0,40}\})?/g
const SPAN_COMMAND = /^\s*\\(multicolumn|multirow)\s*(?=[[{])/
const CAPTION = /\\caption\*?\s?(?:\[[^\]]{0,500}\])?\{/
const MAX_SPAN = 1000
/** Columns that the spans of all cells of a table may add. */
const MAX_ADDED_COLUMNS = 100_000

/**
 * Reads the rows of a table: each once, with the head of a long table's first page and the foot of its last one.
 *
 * @param name of its environment
 * @param toText converts LaTeX to plain text
 */
export function readLatexTable(name: string, body: string, toText: (source: string) => string): Block[] {
  const source = removeColumnSpec(body, name)
  const caption = findCaption(source)
  const { parts, headerRows } = splitParts(caption === undefined ? source : caption.rest)
  const head = parts.get('firsthead') ?? parts.get('head') ?? []
  const content = [...head, ...(parts.get('body') ?? []), ...(parts.get('lastfoot') ?? parts.get('foot') ?? [])]
  const spans: CellSpan[] = []
  const rows: string[][] = []
  let addedColumns = 0
  for (const cells of content) {
    const rowSpans: CellSpan[] = []
    const row: string[] = []
    for (const cell of cells) {
      const { text, rows: rowCount, ...span } = readCell(cell)
      addedColumns += span.columns - 1
      const columns = addedColumns > MAX_ADDED_COLUMNS ? 1 : span.columns
      if (rowCount > 1 || columns > 1) rowSpans.push({ row: rows.length, column: row.length, rows: rowCount, columns })
      row.push(toText(text), ...new Array<string>(columns - 1).fill(''))
    }
    if (row.every((cell) => cell === '')) continue
    rows.push(row)
    spans.push(...rowSpans)
  }
  for (const span of spans) span.rows = Math.min(span.rows, rows.length - span.row)
  const captionText = caption === undefined ? '' : toText(caption.text)
  const heads = { headerRows: head.length > 0 ? head.length : headerRows, headColumns: 0 }
  return [
    ...(captionText === ''
      ? []
      : [{ type: 'paragraph', text: captionText, metadata: { role: 'caption' } } satisfies Block]),
    ...buildTableBlocks(rows, heads, captionText === '' ? {} : { caption: captionText }, spans),
  ]
}

/** Splits a table into the rows and cells of its parts; those in braces or in a table within it are one cell. */
function splitParts(source: string): { parts: Map<TablePart, string[][]>; headerRows: number } {
  const parts = new Map<TablePart, string[][]>()
  let rows: string[][] = []
  let row: string[] = []
  let headerRows = 1
  let hasRule = false
  let cellStart = 0
  let braces = 0
  let environments = 0
  const endCell = (end: number): void => {
    row.push(source.slice(cellStart, end).replace(RULE, ''))
  }
  const endRow = (end: number): void => {
    endCell(end)
    if (row.some((cell) => cell.trim() !== '')) rows.push(row)
    row = []
  }
  for (const match of source.matchAll(TOKEN)) {
    const [token, edge, part, rule] = match
    if (edge !== undefined) environments = Math.max(0, environments + (edge === 'begin' ? 1 : -1))
    else if (token === '{') braces++
    else if (token === '}') braces = Math.max(0, braces - 1)
    if (braces > 0 || environments > 0 || edge !== undefined || token === '}') continue
    if (part !== undefined) {
      endRow(match.index)
      parts.set(toPart(part), rows)
      rows = []
    } else if (token === '&') endCell(match.index)
    else if (token.startsWith('\\\\') || token === '\\tabularnewline') endRow(match.index)
    else {
      if (rule !== undefined && !hasRule && rows.length > 0) headerRows = rows.length
      hasRule ||= rule !== undefined
      continue
    }
    cellStart = match.index + token.length
  }
  endRow(source.length)
  parts.set('body', rows)
  return { parts, headerRows }
}

function toPart(name: string): TablePart {
  return name === 'firsthead' || name === 'head' || name === 'lastfoot' ? name : 'foot'
}

/** The text of a cell without the commands that make it span rows and columns. */
function readCell(source: string): { text: string; rows: number; columns: number } {
  let text = source
  const spans = { rows: 1, columns: 1 }
  for (let command = SPAN_COMMAND.exec(text); command !== null; command = SPAN_COMMAND.exec(text)) {
    const isColumns = command[1] === 'multicolumn'
    const texts = readArguments(text, command[0].length, 3)
    if (texts.length < 3) break
    const count = Math.abs(Number.parseInt(texts[0] ?? '', 10))
    if (isColumns && count > 1 && count <= MAX_SPAN) spans.columns = count
    // A negative number of rows counts upwards, from the last one.
    if (!isColumns && Number(texts[0]) > 1 && count <= MAX_SPAN) spans.rows = count
    text = texts[2] ?? ''
  }
  return { text, ...spans }
}

/** Arguments in braces at an offset; those in brackets are skipped. */
function readArguments(source: string, offset: number, count: number): string[] {
  const braces = matchBraces(source)
  const texts: string[] = []
  let next = offset
  while (texts.length < count) {
    next += /^\s*(?:\[[^\]]{0,40}\]\s*){0,2}/.exec(source.slice(next, next + 200))?.[0].length ?? 0
    const end = braces[next] ?? 0
    if (end === 0 || source.charAt(next) !== '{') break
    texts.push(source.slice(next + 1, end))
    next = end + 1
  }
  return texts
}

function findCaption(source: string): { text: string; rest: string } | undefined {
  const match = CAPTION.exec(source)
  const start = match === null ? -1 : match.index + match[0].length - 1
  const end = start === -1 ? 0 : (matchBraces(source)[start] ?? 0)
  if (match === null || end === 0) return undefined
  const label = /^\s*\\label\s?\{[^{}]{0,200}\}/.exec(source.slice(end + 1, end + 300))?.[0].length ?? 0
  return { text: source.slice(start + 1, end), rest: source.slice(0, match.index) + source.slice(end + 1 + label) }
}

/** A table without the description of its columns. */
function removeColumnSpec(body: string, name: string): string {
  let offset = 0
  // Width, then columns; each in braces that may be nested.
  for (let count = /^tabular[xy]|\*$/.test(name) ? 2 : 1; count > 0; count--) {
    offset += /^\s*(?:\[[^\]]{0,40}\])?\s*/.exec(body.slice(offset, offset + 100))?.[0].length ?? 0
    if (body.charAt(offset) !== '{') break
    let depth = 0
    for (let end = offset; end < Math.min(body.length, offset + 4000); end++) {
      if (body.charAt(end) === '{') depth++
      else if (body.charAt(end) === '}' && --depth === 0) {
        offset = end + 1
        break
      }
    }
  }
  return body.slice(offset)
}
