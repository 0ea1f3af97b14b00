/** Between two cells of a row in the text of a table. */
export const CELL_SEPARATOR = ' | '

/** The cells of a row of a table, from its line of text; its first cell may have lost the space before its bar. */
export function cellsOfLine(line: string): string[] {
  const whole = line.startsWith('| ') ? ` ${line}` : line
  return whole.split(CELL_SEPARATOR).map((cell) => cell.trim())
}
