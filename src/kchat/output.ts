import type { OutputColumn } from '../cli/columns.js'
import { Output, type PrintListOptions, type ProseLayout } from '../cli/output.js'
import { getDefaultFormat } from '../cli/output-format.js'
import { DIRECT_OUTPUT, type OutputStage, openOutputStage } from '../cli/output-stage.js'
import { saveRecentIds } from '../cli/recent-ids.js'
import { resolveLocalDirs } from '../local/dirs.js'
import type { KchatOptions } from './options.js'
import { readOptions, resolveCommandSettings } from './settings.js'

let layout: ProseLayout | undefined
let stage: OutputStage = DIRECT_OUTPUT

/** Loads the filter of `--jq` and `--template`, or the pager, if the command needs one. @throws CliError exit 2 */
export async function beginOutput(options: KchatOptions, { isPaged }: { isPaged: boolean }): Promise<void> {
  stage = await openOutputStage(readOptions(options), { isPaged })
}

/** Flushes the filter or pager. @param isSuccess false after a failure, whose output is not filtered */
export async function endOutput({ isSuccess }: { isSuccess: boolean }): Promise<void> {
  await stage.end({ hasFailed: !isSuccess })
}

/** Loads text wrapping, for terminals. */
export async function loadLayout(): Promise<void> {
  layout = await import('../cli/prose.js')
}

/** Creates the output of a command, as in `ks`: tables on a terminal, tab-separated in a pipe, JSON on request. */
export function createOutput(options: KchatOptions): Output {
  const { output } = readOptions(options)
  const { out = process.stdout, err = process.stderr } = stage
  const format = output.format ?? getDefaultFormat(resolveCommandSettings(options))
  return new Output({ ...output, format }, { out, err, env: process.env, layout })
}

/** Reports a completed action: as JSON on request, otherwise as a note on stderr. */
export function printDone(options: KchatOptions, value: object, note: string): void {
  const out = createOutput(options)
  if (out.isJson) out.json(value)
  else out.note(note)
}

/** Prints a list in the requested format. */
export async function printList(
  items: Iterable<unknown> | AsyncIterable<unknown>,
  options: KchatOptions,
  listOptions: PrintListOptions,
): Promise<void> {
  const out = createOutput(options)
  await out.list(items, listOptions)
  if (out.shortenedIds.size > 0) saveRecentIds(resolveLocalDirs().cache, out.shortenedIds)
}

/** Prints one value: JSON, or a line for each of its fields. */
export function printOne(value: unknown, options: KchatOptions, columns: OutputColumn[] = []): void {
  createOutput(options).record(value, { columns })
}
