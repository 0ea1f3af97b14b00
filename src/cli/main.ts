import { Config } from '@oclif/core/config'
import { run } from '@oclif/core/run'
import { settings } from '@oclif/core/settings'
import { asksForJson } from './asks-for-json.js'
import { ExitWith } from './cli-error.js'
import { guardOutput } from './guard-output.js'
import { errorReport, printReport, stackOf } from './report-error.js'

/**
 * Runs one command line and sets the exit code. oclif finds and parses; how failures look is ours.
 *
 * @param root folder of package.json
 */
export async function main(argv: string[], root: string): Promise<void> {
  guardOutput('ks')
  // Commands run compiled, whatever NODE_ENV says.
  settings.enableAutoTranspile = false
  let config: Config | undefined
  try {
    // oclif's data directory is ours as well, under the same variable: what a received one lists as plugins is not code
    // to us. Nor is a theme, beside the contexts, a thing that we have.
    Object.assign(process.env, { KS_DISABLE_THEME: '1' })
    config = await Config.load({ root, userPlugins: false, devPlugins: false })
    await run(argv, config)
  } catch (error) {
    process.exitCode = await fail(error, argv, config)
  }
}

async function fail(error: unknown, argv: string[], config: Config | undefined): Promise<number> {
  if (error instanceof ExitWith) return error.exit
  const quiet = exitOfOclif(error)
  if (quiet !== undefined) return quiet
  const { reword } = await import('./usage-errors.js')
  const report = errorReport(reword(error, config?.commandIDs ?? []) ?? error)
  await printReport(report, 'ks', asksForJson(argv, process.env))
  if (argv.includes('--debug') && error instanceof Error) process.stderr.write(stackOf(error))
  return report.exitCode
}

/** oclif ends help and version with an error that carries an exit code. */
function exitOfOclif(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('code' in error) || error.code !== 'EEXIT') return undefined
  const details = 'oclif' in error ? error.oclif : undefined
  if (typeof details !== 'object' || details === null || !('exit' in details)) return 0
  return typeof details.exit === 'number' ? details.exit : 1
}
