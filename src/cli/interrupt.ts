import { EXIT } from '../contract/errors.js'
import { defined } from '../lib/defined.js'
import { CliError } from './cli-error.js'

/** The work was left by Ctrl-C. */
export class Interrupted extends CliError {
  constructor(message: string, hint?: string) {
    super(message, { code: 'cancelled', exit: EXIT.interrupted, ...defined({ hint }) })
  }
}

/**
 * Makes the first Ctrl-C abort a signal, so that the command can say what goes on without it; the second one ends the
 * process at once.
 */
export function onInterrupt(outer: AbortSignal): {
  signal: AbortSignal
  wasInterrupted: () => boolean
  done: () => void
} {
  const controller = new AbortController()
  let interrupted = false
  const handle = () => {
    if (interrupted) process.exit(EXIT.interrupted)
    interrupted = true
    controller.abort(new Interrupted('interrupted'))
  }
  process.on('SIGINT', handle)
  return {
    signal: AbortSignal.any([controller.signal, outer]),
    wasInterrupted: () => interrupted,
    done: () => process.off('SIGINT', handle),
  }
}
