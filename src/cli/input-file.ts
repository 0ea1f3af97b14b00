import { readFileSync } from 'node:fs'
import { KsError } from '../contract/errors.js'
import { type CliError, usageError } from './cli-error.js'
import { getFileReason } from './file-reason.js'

/**
 * Reads the text file of a flag or an argument.
 *
 * @param label description of the content for messages
 * @throws CliError exit 2 with the reason: the file is missing, is a folder or cannot be read
 */
export function readInputFile(file: string, label: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw toUnreadableError(label, file, error)
  }
}

/** The error for a file that cannot be read. @param label description of the content for the message */
export function toUnreadableError(label: string, file: string, error: unknown): CliError {
  return usageError(`${label} cannot be read from ${JSON.stringify(file)}: ${getFileReason(error)}`)
}

/** Parses a value of a file. @throws CliError exit 2 with the location and the rule */
export function parseInFile<T>(parse: (value: unknown, location: string) => T, value: unknown, location: string): T {
  try {
    return parse(value, location)
  } catch (error) {
    throw error instanceof KsError ? usageError(error.message) : error
  }
}
