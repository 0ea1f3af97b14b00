import { asksForJson } from './asks-for-json.js'
import { ExitWith } from './cli-error.js'
import { errorReport, printReport, stackOf } from './report-error.js'
import { writeErr } from './terminal-writer.js'

/** Reports the error. @returns the exit code */
export async function fail(error: unknown, argv: readonly string[], commandIds: () => string[]): Promise<number> {
  if (error instanceof ExitWith) return error.exit
  const quiet = exitOfOclif(error)
  if (quiet !== undefined) return quiet
  const { reword } = await import('./usage-errors.js')
  const report = errorReport(reword(error, commandIds(), argv) ?? error)
  await printReport(report, 'ks', asksForJson(argv, process.env))
  if (argv.includes('--debug') && error instanceof Error) writeErr(stackOf(error))
  return report.exitCode
}

/** oclif ends help and version with an error that has an exit code. */
function exitOfOclif(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('code' in error) || error.code !== 'EEXIT') return undefined
  const details = 'oclif' in error ? error.oclif : undefined
  if (typeof details !== 'object' || details === null || !('exit' in details)) return 0
  return typeof details.exit === 'number' ? details.exit : 1
}
