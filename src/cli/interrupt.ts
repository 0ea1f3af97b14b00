import { EXIT } from '../contract/errors.js'
import { omitUndefined } from '../lib/omit-undefined.js'
import { CliError } from './cli-error.js'

/** Ctrl-C ended the command; the service may continue the work. */
export class InterruptedError extends CliError {
  constructor(message: string, hint?: string) {
    super(message, { code: 'cancelled', exit: EXIT.interrupted, ...omitUndefined({ hint }) })
  }
}

/**
 * Makes the first Ctrl-C abort a signal, so that the command can report what continues without it; the second one exits
 * at once.
 */
export function listenForInterrupt(outer: AbortSignal): {
  signal: AbortSignal
  wasInterrupted: () => boolean
  done: () => void
} {
  const controller = new AbortController()
  let isInterrupted = false
  const handle = () => {
    if (isInterrupted) process.exit(EXIT.interrupted)
    isInterrupted = true
    controller.abort(new InterruptedError('interrupted'))
  }
  process.on('SIGINT', handle)
  return {
    signal: AbortSignal.any([controller.signal, outer]),
    wasInterrupted: () => isInterrupted,
    done: () => process.off('SIGINT', handle),
  }
}
