import { EXIT } from '../contract/errors.js'
import { guardTerminals, writeErr } from './terminal-writer.js'

/**
 * Handles errors of stdout and stderr; call it before the first output. A closed pipe, as with `… | head`, exits with
 * 0; a failed write, as on a full disk, exits with 1.
 */
export function guardOutput(bin: string): void {
  guardTerminals()
  // Before oclif's listener, which throws.
  process.stdout.prependListener('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(EXIT.ok)
    writeErr(`${bin}: stdout cannot be written: ${error.message}\n`)
    process.exit(EXIT.failed)
  })
}
