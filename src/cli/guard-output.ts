import { EXIT } from '../contract/errors.js'
import { guardTerminals, writeErr } from './terminal-writer.js'

/** Before the first output of a program. Terminals get text alone. `… | head` closes stdout when it has read enough, which is no failure; output that is lost, as on a full disk, is one. */
export function guardOutput(bin: string): void {
  guardTerminals()
  // before oclif's listener, which throws
  process.stdout.prependListener('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(EXIT.ok)
    writeErr(`${bin}: stdout cannot be written: ${error.message}\n`)
    process.exit(EXIT.failed)
  })
}
