import { ExitWith } from '../cli/cli-error.js'
import { guardOutput } from '../cli/guard-output.js'
import { writeErr } from '../cli/terminal-writer.js'
import { EXIT } from '../contract/errors.js'
import { parseSend } from './parse-send.js'
// Imported eagerly: most calls use it, and a further turn of the module loader takes time.
import { sendMessage } from './send.js'

/** `kchat`, the terminal client of the chat service. */
export async function main(argv: readonly string[]): Promise<void> {
  guardOutput('kchat')
  try {
    if (process.stdout.isTTY || process.stderr.isTTY) await (await import('./output.js')).loadLayout()
    const sendCommand = parseSend(argv)
    if (sendCommand === undefined) {
      await loadOutput()
      const { buildProgram, listFirstWords } = await import('./program.js')
      const root = buildProgram()
      await root.parseAsync(await expandAlias(argv, listFirstWords(root)), { from: 'user' })
    } else {
      const { jq, template } = sendCommand.options
      // Most calls write to stdout directly and need no more code.
      if (jq !== undefined || template !== undefined)
        await (await loadOutput()).beginOutput(sendCommand.options, { isPaged: false })
      await sendMessage(sendCommand.query, sendCommand.options)
    }
    await (await outputModule)?.endOutput({ isSuccess: true })
  } catch (error) {
    await (await outputModule)?.endOutput({ isSuccess: false })
    process.exitCode = await reportFailure(error, argv)
  }
}

let outputModule: Promise<typeof import('./output.js')> | undefined

function loadOutput(): Promise<typeof import('./output.js')> {
  outputModule ??= import('./output.js')
  return outputModule
}

/** Replaces an alias at the start of the command line by its command; loads aliases only if a command may be one. */
async function expandAlias(argv: readonly string[], commands: ReadonlySet<string>): Promise<string[]> {
  const [first = ''] = argv
  if (first === '' || first.startsWith('-') || commands.has(first)) return [...argv]
  return (await import('./aliases.js')).expandAlias(argv, commands)
}

async function reportFailure(error: unknown, argv: readonly string[]): Promise<number> {
  if (error instanceof ExitWith) return error.exit
  const isParserError = error instanceof Error && error.name === 'CommanderError'
  if (isParserError && 'exitCode' in error && error.exitCode === 0) return EXIT.ok
  // The help of a group that was called without a command.
  if (isParserError && 'code' in error && error.code === 'commander.help') return EXIT.usage
  const { toErrorReport, printReport, formatStack } = await import('../cli/report-error.js')
  const { isJsonRequested } = await import('../cli/json-requested.js')
  const report = toErrorReport(isParserError ? await rewordParserError(error, argv) : error)
  await printReport(report, { bin: 'kchat', isJson: isJsonRequested(argv, process.env) })
  if (argv.includes('--debug') && error instanceof Error) writeErr(formatStack(error))
  return report.exitCode
}

async function rewordParserError(error: Error, argv: readonly string[]): Promise<Error> {
  const { buildProgram } = await import('./program.js')
  return (await import('./usage-errors.js')).rewordParserError(error, buildProgram(), argv)
}
