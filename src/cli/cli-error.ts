import { EXIT } from '../contract/errors.js'
import { omitUndefined } from '../lib/omit-undefined.js'

/** A failure that the CLI detected: a one-sentence message, an exit code and a hint for the next step. */
export class CliError extends Error {
  readonly code: string
  readonly exit: number
  readonly hint?: string
  /** Lines printed between the message and the hint. */
  readonly details: string[]

  constructor(
    message: string,
    options: { code?: string; exit?: number; hint?: string; details?: string[]; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'CliError'
    this.code = options.code ?? 'failed'
    this.exit = options.exit ?? EXIT.failed
    this.details = options.details ?? []
    if (options.hint !== undefined) this.hint = options.hint
  }
}

/** Wrong use of a command: exit 2. */
export function usageError(message: string, hint?: string): CliError {
  return new CliError(message, { code: 'usage', exit: EXIT.usage, ...omitUndefined({ hint }) })
}

/** Ends the command with an exit code; all output was printed before. */
export class ExitWith extends Error {
  readonly exit: number

  constructor(exit: number) {
    super(`exit ${exit}`)
    this.name = 'ExitWith'
    this.exit = exit
  }
}
