import { EXIT } from '../contract/errors.js'

/** `… | head` closes stdout when it has read enough, which is no failure; output that is lost, as on a full disk, is one. */
export function guardOutput(bin: string): void {
  // before oclif's listener, which throws
  process.stdout.prependListener('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(EXIT.ok)
    process.stderr.write(`${bin}: stdout cannot be written: ${error.message}\n`)
    process.exit(EXIT.failed)
  })
}
