/** Whether a cell contains a number: digits with signs, separators and a currency. */
export function isNumeric(cell: string): boolean {
  return /^[\s$€£¥(+-]*\d[\d\s.,:/-]*[)%\s]*$/.test(cell.slice(0, 40))
}
