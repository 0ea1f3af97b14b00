/** Separates the cells of a row in the text of a table. */
export const CELL_SEPARATOR = ' | '

/** Splits a line of a table's text into its cells. The first cell may have lost the space before its bar. */
export function splitCells(line: string): string[] {
  const row = line.startsWith('| ') ? ` ${line}` : line
  return row.split(CELL_SEPARATOR).map((cell) => cell.trim())
}
