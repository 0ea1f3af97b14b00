import { usageError } from './cli-error.js'
import type { CommandSettings } from './contexts.js'

export const FORMATS = ['table', 'json', 'jsonl', 'tsv'] as const
export type OutputFormat = (typeof FORMATS)[number]

/** @param name of the flag, variable or setting, for the message @throws CliError exit 2 */
export function parseFormat(value: string, name: string): OutputFormat {
  const format = FORMATS.find((known) => known === value)
  if (format !== undefined) return format
  throw usageError(`${name} must be one of ${FORMATS.join(', ')}, received ${JSON.stringify(value)}`)
}

/** The format of the environment or user file. */
export function getDefaultFormat({ format }: CommandSettings): OutputFormat | undefined {
  return format === undefined ? undefined : parseFormat(format.value, format.origin === 'user' ? 'format' : 'KS_FORMAT')
}
