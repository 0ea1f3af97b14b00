import { usageError } from '../cli/cli-error.js'
import type { OutputColumn } from '../cli/columns.js'
import type { FilteredOutput } from '../cli/filter.js'
import { FORMATS, Output, type OutputFormat, type OutStream, type ProseLayout } from '../cli/output.js'
import { parseOutputFilter } from '../cli/output-filter.js'
import type { PagedOutput } from '../cli/pager.js'
import { saveRecentIds } from '../cli/recent-ids.js'
import { resolveLocalDirs } from '../local/dirs.js'
import type { KchatOptions } from './options.js'
import { resolveCommandSettings } from './settings.js'

let layout: ProseLayout | undefined
/** a filter or a pager between commands and stdout */
let interposed: FilteredOutput | PagedOutput | undefined

/** Loads the filter or pager that a command needs. @throws CliError exit 2 */
export async function beginOutput(options: KchatOptions, isPaged: boolean): Promise<void> {
  const wish = parseOutputFilter(options)
  if (wish !== undefined) {
    const { FilteredOutput } = await import('../cli/filter.js')
    interposed = new FilteredOutput(wish, process.stdout)
  } else if (isPaged && options.pager !== false && process.stdout.isTTY === true) {
    const { PagedOutput, findPager } = await import('../cli/pager.js')
    const program = findPager(process.env)
    if (program !== undefined) interposed = new PagedOutput(program, process.stdout)
  }
}

/** Flushes the filter or pager. @param isSuccess false after a failure, whose output is not JSON to filter */
export async function endOutput(isSuccess: boolean): Promise<void> {
  if (interposed === undefined || (!isSuccess && !interposed.isTTY)) return
  await interposed.end()
}

/** Loads text wrapping, for terminals. */
export async function loadLayout(): Promise<void> {
  layout = await import('../cli/prose.js')
}

/** The output of a command, as in `ks`: tables on a terminal, tab-separated lines in a pipe, JSON on request. */
export function createOutput(options: KchatOptions): Output {
  const { fields, quiet, color, header, truncate } = options
  return new Output(
    {
      format: selectFormat(options),
      fields: fields === undefined ? undefined : fields.split(',').map((field) => field.trim()),
      header: header !== false,
      truncate: truncate !== false,
      colour: color,
      quiet: quiet === true,
    },
    { out: interposed ?? process.stdout, err: remarkStream(), env: process.env, layout },
  )
}

/** The stream for remarks: after the pager's content, if there is a pager. */
function remarkStream(): OutStream {
  const paged = interposed !== undefined && 'later' in interposed ? interposed : undefined
  if (paged === undefined || !process.stderr.isTTY) return process.stderr
  return { write: (text: string) => paged.later(text), isTTY: true, columns: process.stderr.columns }
}

/** @throws CliError exit 2 */
function selectFormat(options: KchatOptions): OutputFormat | undefined {
  const { json, format } = options
  if (json === true && format !== undefined && format !== 'json')
    throw usageError(`--json and --format ${format} both set the format: give one of them`)
  if (json === true) return 'json'
  if (parseOutputFilter(options) !== undefined && format === undefined) return 'json'
  const text = format ?? resolveCommandSettings(options).format?.value
  if (text === undefined) return undefined
  const supported = FORMATS.find((candidate) => candidate === text)
  if (supported !== undefined) return supported
  const name = format === undefined ? 'KS_FORMAT' : '--format'
  throw usageError(`${name} must be one of ${FORMATS.join(', ')}, received ${JSON.stringify(text)}`)
}

/** Reports a completed action: as JSON on request, otherwise as a remark on stderr. */
export function printDone(options: KchatOptions, value: object, remark: string): void {
  const out = createOutput(options)
  if (out.isJson) out.json(value)
  else out.note(remark)
}

/** Prints a list in the requested format. */
export async function printList(
  items: Iterable<unknown> | AsyncIterable<unknown>,
  options: KchatOptions,
  listOptions: { columns: OutputColumn[]; empty: string; hint?: string },
): Promise<void> {
  const out = createOutput(options)
  await out.list(items, listOptions)
  if (out.shortenedIds.size > 0) saveRecentIds(resolveLocalDirs().cache, out.shortenedIds)
}

/** Prints one value: JSON, or a line for each of its fields. */
export function printOne(value: unknown, options: KchatOptions, columns: OutputColumn[] = []): void {
  createOutput(options).record(value, { columns })
}
