/** Separates the cells of a row in the text of a table. */
export const CELL_SEPARATOR = ' | '

/** Splits a line of a table's text into its cells. The first cell may have lost the space before its bar. */
export function cellsOfLine(line: string): string[] {
  const whole = line.startsWith('| ') ? ` ${line}` : line
  return whole.split(CELL_SEPARATOR).map((cell) => cell.trim())
}
