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
 *
 * @param deadline also aborts the signal
 */
export function listenForInterrupt(deadline: AbortSignal): {
  signal: AbortSignal
  wasInterrupted: () => boolean
  stopListening: () => void
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
    signal: AbortSignal.any([controller.signal, deadline]),
    wasInterrupted: () => isInterrupted,
    stopListening: () => process.off('SIGINT', handle),
  }
}
