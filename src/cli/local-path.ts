import { toErrorMessage } from '../lib/error-message.js'
import { resolveLocalPath } from '../local/local-path.js'
import { usageError } from './cli-error.js'

/** Resolves `~` and a variable at the beginning of a path of the command line. @throws CliError exit 2 */
export function readLocalPath(text: string): string {
  try {
    return resolveLocalPath(text)
  } catch (error) {
    throw usageError(toErrorMessage(error))
  }
}

/** Options of flags and arguments that are paths of this machine. */
export const localPath = { parse: async (text: string) => readLocalPath(text) }
