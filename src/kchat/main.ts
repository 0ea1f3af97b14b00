import { ExitWith } from '../cli/cli-error.js'
import { guardOutput } from '../cli/guard-output.js'
import { EXIT } from '../contract/errors.js'
import { quickSend } from './quick.js'
// not lazily: it is what most calls are for, and one more turn of the loader takes time
import { send } from './send.js'

/** `kchat`, the terminal client of the chat service. */
export async function main(argv: readonly string[]): Promise<void> {
  guardOutput('kchat')
  try {
    if (process.stdout.isTTY || process.stderr.isTTY) await (await import('./output.js')).loadLayout()
    const quick = quickSend(argv)
    if (quick === undefined) {
      const { program } = await import('./program.js')
      await program().parseAsync([...argv], { from: 'user' })
    } else {
      await send(quick.query, quick.options)
    }
  } catch (error) {
    process.exitCode = await fail(error, argv)
  }
}

async function fail(error: unknown, argv: readonly string[]): Promise<number> {
  if (error instanceof ExitWith) return error.exit
  const isParser = error instanceof Error && error.name === 'CommanderError'
  if (isParser && 'exitCode' in error && error.exitCode === 0) return EXIT.ok
  // the help of a group that was called alone
  if (isParser && 'code' in error && error.code === 'commander.help') return EXIT.usage
  const { errorReport, printReport, stackOf } = await import('../cli/report-error.js')
  const { asksForJson } = await import('../cli/asks-for-json.js')
  const report = errorReport(isParser ? await reworded(error, argv) : error)
  await printReport(report, 'kchat', asksForJson(argv, process.env))
  if (argv.includes('--debug') && error instanceof Error) process.stderr.write(stackOf(error))
  return report.exitCode
}

async function reworded(error: Error, argv: readonly string[]): Promise<Error> {
  const { program } = await import('./program.js')
  return (await import('./usage-errors.js')).reworded(error, program(), argv)
}
