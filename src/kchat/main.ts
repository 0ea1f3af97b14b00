import { ExitWith } from '../cli/cli-error.js'
import { guardOutput } from '../cli/guard-output.js'
import { writeErr } from '../cli/terminal-writer.js'
import { EXIT } from '../contract/errors.js'
import { quickSend } from './quick.js'
// Imported eagerly: most calls use it, and a further turn of the module loader takes time.
import { send } from './send.js'

/** `kchat`, the terminal client of the chat service. */
export async function main(argv: readonly string[]): Promise<void> {
  guardOutput('kchat')
  try {
    if (process.stdout.isTTY || process.stderr.isTTY) await (await import('./output.js')).loadLayout()
    const quick = quickSend(argv)
    if (quick === undefined) {
      await output()
      const { program, topWords } = await import('./program.js')
      const root = program()
      await root.parseAsync(await meant(argv, topWords(root)), { from: 'user' })
    } else {
      const { jq, template } = quick.options
      // Most calls write to stdout directly and need no more code.
      if (jq !== undefined || template !== undefined) await (await output()).beginOutput(quick.options, false)
      await send(quick.query, quick.options)
    }
    await (await loadedOutput)?.endOutput(true)
  } catch (error) {
    await (await loadedOutput)?.endOutput(false)
    process.exitCode = await fail(error, argv)
  }
}

let loadedOutput: Promise<typeof import('./output.js')> | undefined

function output(): Promise<typeof import('./output.js')> {
  loadedOutput ??= import('./output.js')
  return loadedOutput
}

/** Replaces an alias at the start of the command line by its command. */
async function meant(argv: readonly string[], commands: ReadonlySet<string>): Promise<string[]> {
  const [first = ''] = argv
  if (first === '' || first.startsWith('-') || commands.has(first)) return [...argv]
  return (await import('./aliases.js')).meant(argv, commands)
}

async function fail(error: unknown, argv: readonly string[]): Promise<number> {
  if (error instanceof ExitWith) return error.exit
  const isParser = error instanceof Error && error.name === 'CommanderError'
  if (isParser && 'exitCode' in error && error.exitCode === 0) return EXIT.ok
  // The help of a group that was called without a command.
  if (isParser && 'code' in error && error.code === 'commander.help') return EXIT.usage
  const { errorReport, printReport, stackOf } = await import('../cli/report-error.js')
  const { asksForJson } = await import('../cli/asks-for-json.js')
  const report = errorReport(isParser ? await reworded(error, argv) : error)
  await printReport(report, 'kchat', asksForJson(argv, process.env))
  if (argv.includes('--debug') && error instanceof Error) writeErr(stackOf(error))
  return report.exitCode
}

async function reworded(error: Error, argv: readonly string[]): Promise<Error> {
  const { program } = await import('./program.js')
  return (await import('./usage-errors.js')).reworded(error, program(), argv)
}
