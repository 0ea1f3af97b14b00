import { pluralize } from '../../../lib/text/pluralize.js'
import type { Block, ParsedDocument, Parser, ParserInput } from '../parsed.js'
import { buildTableBlocks } from '../tables.js'
import { readSourceBlocks } from '../text/code.js'
import { readSqlRows, splitStatements } from './sql-statements.js'

/** Maximum number of rows of one table that are kept; the others are counted. */
const MAX_ROWS = 20_000
/** Maximum length of a cell. */
const MAX_CELL_LENGTH = 2000
/** Maximum number of cells of a dump, all tables together. */
const MAX_CELLS = 1_000_000

/** Reads database dumps as tables with headers, and other SQL as source code. */
export const sqlParser: Parser = {
  parse: parseSql,
}

function parseSql(input: ParserInput): ParsedDocument {
  const text = input.text()
  const dump = /^(?:insert into|replace into|copy [\w."]+(?: \([^)]*\))? from stdin)/im.test(text)
    ? readDump(text)
    : undefined
  if (dump === undefined || dump.rows === 0) {
    return {
      parser: 'unstructured',
      contentType: 'text',
      blocks: readSourceBlocks(text, 'sql'),
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
      ...(dump.omittedRows === 0
        ? {}
        : { warnings: [`${pluralize(dump.omittedRows, 'row')} ${dump.omittedRows === 1 ? 'is' : 'are'} omitted`] }),
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
function readDump(text: string): { blocks: Block[]; tables: number; rows: number; omittedRows: number } {
  const tables = new Map<string, DumpedTable>()
  const others: string[] = []
  let keptRows = 0
  let omittedRows = 0
  let cells = 0
  const getTable = (name: string): DumpedTable => {
    const table = tables.get(name) ?? { name, definition: '', columns: [], rows: [] }
    tables.set(name, table)
    return table
  }
  for (const statement of splitStatements(text)) {
    if (statement.kind === 'create') {
      const table = getTable(statement.table)
      table.definition = statement.text
      table.columns = statement.columns
    } else if (statement.kind === 'other') others.push(statement.text)
    else {
      const table = getTable(statement.table)
      if (statement.columns.length > 0) table.columns = statement.columns
      for (const row of readSqlRows(statement)) {
        if (table.rows.length >= MAX_ROWS || cells > MAX_CELLS) omittedRows++
        else {
          table.rows.push(
            row.map((cell) => (cell.length > MAX_CELL_LENGTH ? `${cell.slice(0, MAX_CELL_LENGTH)}…` : cell)),
          )
          cells += row.length
          keptRows++
        }
      }
    }
  }
  const blocks = readSourceBlocks(others.join('\n\n'), 'sql')
  for (const table of tables.values()) blocks.push(...toTableSection(table))
  return { blocks, tables: tables.size, rows: keptRows, omittedRows }
}

function toTableSection({ name, definition, columns, rows }: DumpedTable): Block[] {
  const blocks: Block[] = [{ type: 'heading', text: name, level: 1, tocSource: 'key' }]
  if (definition !== '') blocks.push({ type: 'code', text: definition, metadata: { language: 'sql' } })
  const hasColumns = columns.length > 0
  if (rows.length > 0) blocks.push(...buildTableBlocks(hasColumns ? [columns, ...rows] : rows, hasColumns))
  return blocks
}
