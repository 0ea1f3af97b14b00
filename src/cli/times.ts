import { usageError } from './cli-error.js'
import { parseSpan } from './units.js'

/**
 * Parses `2026-11-01`, `2026-11-01T08:00:00Z` or a time span before now such as `7d` to ISO text.
 *
 * @param name of the flag
 * @throws CliError exit 2
 */
export function parseTime(text: string, name: string): string {
  if (/^\d+(?:\.\d+)?(?:ms|s|m|h|d)$/.test(text.trim()))
    return new Date(Date.now() - parseSpan(text, name)).toISOString()
  const ms = /^\d{4}-\d{2}-\d{2}(?:$|[T ])/.test(text) ? Date.parse(text) : Number.NaN
  if (Number.isNaN(ms)) {
    throw usageError(`${name} must be a date, a date and time, or a span such as 7d, received ${JSON.stringify(text)}`)
  }
  return new Date(ms).toISOString()
}
