import { EXIT } from '../contract/errors.js'
import { guardTerminals, writeErr } from './terminal-writer.js'

/**
 * Guards stdout and stderr; call it before the first output. A reader that closes stdout early, as `… | head`, is no
 * failure; output that is lost, as on a full disk, is one.
 */
export function guardOutput(bin: string): void {
  guardTerminals()
  // before oclif's listener, which throws
  process.stdout.prependListener('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(EXIT.ok)
    writeErr(`${bin}: stdout cannot be written: ${error.message}\n`)
    process.exit(EXIT.failed)
  })
}
