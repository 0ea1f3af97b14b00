import { isObject } from '../cli/json-file.js'
import { ttyLine } from '../cli/terminal.js'

/** A value as JSON on stdout. */
export function print(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value, null, process.stdout.isTTY ? 2 : undefined)}\n`)
}

/** A list: JSON where asked for, else one line each with its fields between tabs. */
export function printList(items: unknown, fields: readonly string[], json: boolean | undefined): void {
  const rows: unknown[] = Array.isArray(items) ? items : []
  if (json === true) print(rows)
  else
    for (const row of rows)
      if (isObject(row)) process.stdout.write(`${fields.map((field) => ttyLine(cell(row[field]))).join('\t')}\n`)
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return ''
  return typeof value === 'string' ? value.replace(/\s+/g, ' ') : JSON.stringify(value)
}
