import type { TableCells } from './cells.js'

/** Formats in which a table is available, by the name of the variant. */
export const TABLE_FORMATS = { csv: 'text/csv', json: 'application/json', md: 'text/markdown' } as const
export type TableFormat = keyof typeof TABLE_FORMATS

export function isTableFormat(name: string): name is TableFormat {
  return Object.hasOwn(TABLE_FORMATS, name)
}

/** Formats a table as text. */
export function formatTable(table: TableCells, format: TableFormat): string {
  if (format === 'csv') return toCsv(table)
  return format === 'md' ? toMarkdown(table) : `${JSON.stringify(table)}\n`
}

/** RFC 4180: a line per row, header rows first. Cells are not changed, even when they start like a formula. */
function toCsv({ rows }: TableCells): string {
  return rows.map((row) => `${row.map(csvCell).join(',')}\r\n`).join('')
}

function csvCell(cell: string): string {
  return /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell
}

/** A table in GitHub's Markdown, which has one header row: several header rows are joined column by column. */
function toMarkdown({ rows, headerRows, spans, caption }: TableCells): string {
  const width = rows[0]?.length ?? 0
  const heads = Array.from({ length: width }, (_, column) => {
    const names: string[] = []
    for (let row = 0; row < headerRows; row++) {
      const span = spans.find(
        (candidate) =>
          candidate.row === row && candidate.column <= column && column < candidate.column + candidate.columns,
      )
      names.push(rows[row]?.[span?.column ?? column] ?? '')
    }
    return names.filter((name) => name !== '').join(' ')
  })
  const lines = [heads, heads.map(() => '---'), ...rows.slice(headerRows)]
  const body = lines.map((row) => `| ${row.map(markdownCell).join(' | ')} |\n`).join('')
  return caption === undefined ? body : `${caption.replaceAll('\n', ' ')}\n\n${body}`
}

function markdownCell(cell: string): string {
  return cell.replaceAll('\\', '\\\\').replaceAll('|', '\\|').replaceAll('\n', ' ')
}
