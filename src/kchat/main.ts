import { ExitWith } from '../cli/cli-error.js'
import { EXIT } from '../contract/errors.js'
import { quickSend } from './quick.js'
// not lazily: it is what most calls are for, and one more turn of the loader takes time
import { send } from './send.js'

/** `kchat`, the terminal client of the chat service. */
export async function main(argv: readonly string[]): Promise<void> {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0)
  })
  try {
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
  if (error instanceof Error && error.name === 'CommanderError') {
    // it has said why
    return 'exitCode' in error && error.exitCode === 0 ? EXIT.ok : EXIT.usage
  }
  const { errorReport, renderReport } = await import('../cli/report-error.js')
  const report = errorReport(error)
  process.stderr.write(renderReport(report, 'kchat', asksForJson(argv)))
  return report.exitCode
}

function asksForJson(argv: readonly string[]): boolean {
  const format = argv[argv.indexOf('--format') + 1]
  return argv.includes('--json') || argv.some((word) => /^--format=jsonl?$/.test(word)) || /^jsonl?$/.test(format ?? '')
}
