import { readFileSync } from 'node:fs'
import { type CliError, usageError } from './cli-error.js'
import { fileReason } from './file-reason.js'

/**
 * Reads the text file of a flag or an argument.
 *
 * @param what description of the content for messages
 * @throws CliError exit 2 with the reason: the file is missing, is a folder or cannot be read
 */
export function readInputFile(file: string, what: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw unreadable(what, file, error)
  }
}

/** The error for a file that cannot be read. @param what description of the content for the message */
export function unreadable(what: string, file: string, error: unknown): CliError {
  return usageError(`${what} cannot be read from ${JSON.stringify(file)}: ${fileReason(error)}`)
}
