import type { Block, Parsed, Parser, ParserInput } from '../parsed.js'
import { tableBlocks } from '../tables.js'
import { sourceBlocks } from '../text/code.js'
import { SqlRows, statementsOf } from './sql-statements.js'

/** Maximum number of rows of one table that are kept; the others are counted. */
const MAX_ROWS = 20_000
/** Maximum length of a cell. */
const MAX_CELL = 2000
/** Maximum number of cells of a dump, all tables together. */
const MAX_CELLS = 1_000_000

/** Reads database dumps as tables with headers, and other SQL as source code. */
export const sqlParser: Parser = {
  accepts: (mediaType) => mediaType === 'text/x-sql',
  parse: parseSql,
}

function parseSql(input: ParserInput): Parsed {
  const text = input.text()
  const dump = /^(?:insert into|replace into|copy [\w."]+(?: \([^)]*\))? from stdin)/im.test(text)
    ? dumpBlocks(text)
    : undefined
  if (dump === undefined || dump.rows === 0) {
    return {
      parser: 'unstructured',
      contentType: 'text',
      blocks: sourceBlocks(text, 'sql'),
      metadata: { programmingLanguage: 'sql' },
    }
  }
  return {
    parser: 'native-structured',
    contentType: 'structured',
    blocks: dump.blocks,
    metadata: {
      tableCount: dump.tables,
      rowCount: dump.rows,
      ...(dump.left === 0 ? {} : { warnings: [`${dump.left.toLocaleString('en-US')} rows are omitted`] }),
    },
  }
}

interface DumpedTable {
  name: string
  definition: string
  columns: string[]
  rows: string[][]
}

/** Tables in the order of their first mention; statements about no table precede them. */
function dumpBlocks(text: string): { blocks: Block[]; tables: number; rows: number; left: number } {
  const tables = new Map<string, DumpedTable>()
  const others: string[] = []
  let kept = 0
  let left = 0
  let cells = 0
  const tableOf = (name: string): DumpedTable => {
    const known = tables.get(name) ?? { name, definition: '', columns: [], rows: [] }
    tables.set(name, known)
    return known
  }
  for (const statement of statementsOf(text)) {
    if (statement.kind === 'create') {
      const table = tableOf(statement.table)
      table.definition = statement.text
      table.columns = statement.columns
    } else if (statement.kind === 'other') others.push(statement.text)
    else {
      const table = tableOf(statement.table)
      if (statement.columns.length > 0) table.columns = statement.columns
      const rows = new SqlRows(statement)
      for (const row of rows.read()) {
        if (table.rows.length >= MAX_ROWS || cells > MAX_CELLS) left++
        else {
          table.rows.push(row.map((cell) => (cell.length > MAX_CELL ? `${cell.slice(0, MAX_CELL)}…` : cell)))
          cells += row.length
          kept++
        }
      }
    }
  }
  const blocks = sourceBlocks(others.join('\n\n'), 'sql')
  for (const table of tables.values()) blocks.push(...tableSection(table))
  return { blocks, tables: tables.size, rows: kept, left }
}

function tableSection({ name, definition, columns, rows }: DumpedTable): Block[] {
  const blocks: Block[] = [{ type: 'heading', text: name, level: 1, tocSource: 'key' }]
  if (definition !== '') blocks.push({ type: 'code', text: definition, metadata: { language: 'sql' } })
  const headed = columns.length > 0
  if (rows.length > 0) blocks.push(...tableBlocks(headed ? [columns, ...rows] : rows, headed))
  return blocks
}
