import { type Options, parse } from 'csv-parse/sync'
import type { ParsedDocument, Parser, ParserInput } from '../parsed.js'
import { buildTableBlocks, looksLikeHeader } from '../tables.js'

const DELIMITERS = [',', ';', '\t', '|'] as const
/** Lines that decide about the delimiter. */
const SAMPLE_LINES = 20

/** Reads values separated by commas, semicolons, tabs or bars as tables. */
export const csvParser: Parser = {
  parse: parseCsv,
}

function parseCsv(input: ParserInput): ParsedDocument {
  const { text, separator } = readSeparatorLine(input.text())
  const delimiter = separator ?? detectDelimiter(text) ?? (input.mediaType === 'text/tab-separated-values' ? '\t' : ',')
  const { rows, isStrict } = readRows(text, delimiter)
  const hasTitle = rows[0]?.filter((cell) => cell.trim() !== '').length === 1 && rows.length > 2
  const body = hasTitle ? rows.slice(1) : rows
  const header = looksLikeHeader(body)
  const blocks = buildTableBlocks(body, header)
  if (hasTitle) blocks.unshift({ type: 'paragraph', text: rows[0]?.join(' ').trim() ?? '' })
  return {
    parser: 'native-structured',
    contentType: 'structured',
    blocks,
    metadata: {
      rowCount: header ? body.length - 1 : body.length,
      delimiter,
      ...(isStrict ? {} : { warnings: ['quotes do not match; read line by line'] }),
    },
  }
}

/** The line `sep=;`, by which Excel states the separator, is not part of the table. */
function readSeparatorLine(source: string): { text: string; separator?: string } {
  const match = /^\ufeff?"?sep=([^\r\n"])"?[ \t,;]*(?:\r?\n|\r|$)/i.exec(source)
  return match?.[1] === undefined ? { text: source } : { text: source.slice(match[0].length), separator: match[1] }
}

function readRows(text: string, delimiter: string): { rows: string[][]; isStrict: boolean } {
  const options: Options = {
    delimiter,
    relax_column_count: true,
    relax_quotes: true,
    skip_empty_lines: true,
    bom: true,
  }
  try {
    return { rows: parse(text, options), isStrict: true }
  } catch {
    const rows = text.split(/\r?\n/).filter((line) => line.trim() !== '')
    return { rows: rows.map((line) => line.split(delimiter).map((cell) => cell.replaceAll('"', ''))), isStrict: false }
  }
}

/** The delimiter that splits most of the first lines into the same number of columns, quoted parts aside. */
function detectDelimiter(text: string): string | undefined {
  const sample = text
    .slice(0, 64 * 1024)
    .replace(/"(?:[^"]|"")*"/g, '')
    .split(/\r?\n/)
    .filter((line) => line.trim() !== '')
    .slice(0, SAMPLE_LINES)
  let best: string | undefined
  let bestScore = 0
  for (const delimiter of DELIMITERS) {
    const counts = sample.map((line) => line.split(delimiter).length - 1)
    const used = counts.filter((count) => count > 0)
    if (used.length === 0) continue
    const commonCount = findMode(used)
    const score = (used.filter((count) => count === commonCount).length / counts.length) * Math.log2(commonCount + 1)
    if (score > bestScore) {
      best = delimiter
      bestScore = score
    }
  }
  return best
}

function findMode(values: number[]): number {
  const counts = new Map<number, number>()
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
  let best = values[0] ?? 0
  for (const [value, count] of counts) if (count > (counts.get(best) ?? 0)) best = value
  return best
}
