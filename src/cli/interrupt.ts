import { EXIT } from '../contract/errors.js'
import { defined } from '../lib/defined.js'
import { CliError } from './cli-error.js'

/** Ctrl-C ended the command; the service may continue the work. */
export class Interrupted extends CliError {
  constructor(message: string, hint?: string) {
    super(message, { code: 'cancelled', exit: EXIT.interrupted, ...defined({ hint }) })
  }
}

/**
 * Makes the first Ctrl-C abort a signal, so that the command can report what continues without it; the second one exits
 * at once.
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
