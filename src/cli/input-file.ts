import { readFileSync } from 'node:fs'
import { type CliError, usageError } from './cli-error.js'
import { fileReason } from './file-reason.js'

/**
 * Reads the text of a file that a flag or an argument names.
 *
 * @param what its content, as a message names it
 * @throws CliError exit 2 that states whether the file is missing, is a folder or may not be read
 */
export function readInputFile(file: string, what: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw unreadable(what, file, error)
  }
}

/** The error for a file that cannot be read. @param what its content, as the message names it */
export function unreadable(what: string, file: string, error: unknown): CliError {
  return usageError(`${what} cannot be read from ${JSON.stringify(file)}: ${fileReason(error)}`)
}
