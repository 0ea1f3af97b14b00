import { usageError } from '../cli/cli-error.js'
import type { Column } from '../cli/columns.js'
import { FORMATS, type Format, Output } from '../cli/output.js'
import type { Common } from './options.js'

/** What a command says, as `ks` says it: a table for a terminal, tab-separated lines for a pipe, JSON where asked. */
export function outputOf(options: Common): Output {
  const { format, fields, quiet, color } = options
  return new Output(
    {
      format: formatOf(options.json, format ?? process.env.KS_FORMAT),
      fields: fields === undefined ? undefined : fields.split(',').map((field) => field.trim()),
      header: true,
      truncate: true,
      colour: color === false ? false : undefined,
      quiet: quiet === true,
    },
    { out: process.stdout, err: process.stderr, env: process.env },
  )
}

/** @throws CliError exit 2 */
function formatOf(json: boolean | undefined, text: string | undefined): Format | undefined {
  if (json === true) return 'json'
  if (text === undefined || text === '') return undefined
  const format = FORMATS.find((known) => known === text)
  if (format === undefined)
    throw usageError(`--format must be one of ${FORMATS.join(', ')}, received ${JSON.stringify(text)}`)
  return format
}

/** Prints a list in the asked format. */
export async function printList(
  items: unknown,
  options: Common,
  how: { columns: Column[]; empty: string; hint?: string },
): Promise<void> {
  const rows: unknown[] = Array.isArray(items) ? items : []
  await outputOf(options).list(rows, how)
}

/** Prints one thing: JSON, or a line for each of its fields. */
export function printOne(value: unknown, options: Common, columns: Column[] = []): void {
  outputOf(options).record(value, { columns })
}
