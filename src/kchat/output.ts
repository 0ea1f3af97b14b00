import { usageError } from '../cli/cli-error.js'
import type { Column } from '../cli/columns.js'
import type { FilteredOutput } from '../cli/filter.js'
import { FORMATS, type Format, type Layout, Output, type OutStream } from '../cli/output.js'
import type { PagedOutput } from '../cli/pager.js'
import { rememberIds } from '../cli/recent-ids.js'
import { wishOf } from '../cli/wish.js'
import { localDirs } from '../local/dirs.js'
import type { Common } from './options.js'
import { settingsOf } from './settings.js'

let layout: Layout | undefined
/** a filter or a pager between commands and stdout */
let between: FilteredOutput | PagedOutput | undefined

/** Loads the filter or pager that a command needs. @throws CliError exit 2 */
export async function beginOutput(options: Common, isPaged: boolean): Promise<void> {
  const wish = wishOf(options)
  if (wish !== undefined) {
    const { FilteredOutput } = await import('../cli/filter.js')
    between = new FilteredOutput(wish, process.stdout)
  } else if (isPaged && options.pager !== false && process.stdout.isTTY === true) {
    const { PagedOutput, pagerOf } = await import('../cli/pager.js')
    const program = pagerOf(process.env)
    if (program !== undefined) between = new PagedOutput(program, process.stdout)
  }
}

/** Flushes the filter or pager. @param isGood false after a failure, whose output is not JSON to filter */
export async function endOutput(isGood: boolean): Promise<void> {
  if (between === undefined || (!isGood && !between.isTTY)) return
  await between.end()
}

/** Loads text wrapping, for terminals. */
export async function loadLayout(): Promise<void> {
  layout = await import('../cli/prose.js')
}

/** The output of a command, as in `ks`: tables on a terminal, tab-separated lines in a pipe, JSON on request. */
export function outputOf(options: Common): Output {
  const { fields, quiet, color, header, truncate } = options
  return new Output(
    {
      format: formatOf(options),
      fields: fields === undefined ? undefined : fields.split(',').map((field) => field.trim()),
      header: header !== false,
      truncate: truncate !== false,
      colour: color,
      quiet: quiet === true,
    },
    { out: between ?? process.stdout, err: remarks(), env: process.env, layout },
  )
}

/** The stream for remarks: after the pager's content, if there is a pager. */
function remarks(): OutStream {
  const paged = between !== undefined && 'later' in between ? between : undefined
  if (paged === undefined || !process.stderr.isTTY) return process.stderr
  return { write: (text: string) => paged.later(text), isTTY: true, columns: process.stderr.columns }
}

/** @throws CliError exit 2 */
function formatOf(options: Common): Format | undefined {
  const { json, format } = options
  if (json === true && format !== undefined && format !== 'json')
    throw usageError(`--json and --format ${format} both set the format: give one of them`)
  if (json === true) return 'json'
  if (wishOf(options) !== undefined && format === undefined) return 'json'
  const text = format ?? settingsOf(options).format?.value
  if (text === undefined) return undefined
  const known = FORMATS.find((one) => one === text)
  if (known !== undefined) return known
  const name = format === undefined ? 'KS_FORMAT' : '--format'
  throw usageError(`${name} must be one of ${FORMATS.join(', ')}, received ${JSON.stringify(text)}`)
}

/** Reports a completed action: as JSON on request, otherwise as a remark on stderr. */
export function printDone(options: Common, value: object, remark: string): void {
  const out = outputOf(options)
  if (out.isJson) out.json(value)
  else out.note(remark)
}

/** Prints a list in the requested format. */
export async function printList(
  items: Iterable<unknown> | AsyncIterable<unknown>,
  options: Common,
  how: { columns: Column[]; empty: string; hint?: string },
): Promise<void> {
  const out = outputOf(options)
  await out.list(items, how)
  if (out.shortened.size > 0) rememberIds(localDirs().cache, out.shortened)
}

/** Prints one value: JSON, or a line for each of its fields. */
export function printOne(value: unknown, options: Common, columns: Column[] = []): void {
  outputOf(options).record(value, { columns })
}
