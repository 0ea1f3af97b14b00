import { ExitWith } from './cli-error.js'
import { isJsonRequested } from './json-requested.js'
import { formatStack, printReport, toErrorReport } from './report-error.js'
import { writeErr } from './terminal-writer.js'

/**
 * Reports an error on stderr.
 *
 * @param listCommandIds ids of all commands, for the hint to an unknown one
 * @returns the exit code
 */
export async function reportFailure(
  error: unknown,
  argv: readonly string[],
  listCommandIds: () => string[],
): Promise<number> {
  if (error instanceof ExitWith) return error.exit
  const oclifExit = getOclifExit(error)
  if (oclifExit !== undefined) return oclifExit
  const { rewordParserError } = await import('./usage-errors.js')
  const report = toErrorReport(rewordParserError(error, listCommandIds(), argv) ?? error)
  await printReport(report, { bin: 'ks', isJson: isJsonRequested(argv, process.env) })
  if (argv.includes('--debug') && error instanceof Error) writeErr(formatStack(error))
  return report.exitCode
}

/** oclif ends help and version with an error that has an exit code. */
function getOclifExit(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('code' in error) || error.code !== 'EEXIT') return undefined
  const details = 'oclif' in error ? error.oclif : undefined
  if (typeof details !== 'object' || details === null || !('exit' in details)) return 0
  return typeof details.exit === 'number' ? details.exit : 1
}
