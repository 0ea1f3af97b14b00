import { usageError } from './cli-error.js'

/** Filter of a command's JSON output. */
export type OutputFilter = { kind: 'jq'; expression: string } | { kind: 'template'; text: string }

/** Parses `--jq` or `--template`, which need JSON. @throws CliError exit 2 */
export function parseOutputFilter(flags: {
  jq?: string | undefined
  template?: string | undefined
  format?: string | undefined
}): OutputFilter | undefined {
  const { jq, template, format } = flags
  if (jq !== undefined && template !== undefined)
    throw usageError('--jq and --template contradict each other: give one of them')
  if (jq === undefined && template === undefined) return undefined
  if (format !== undefined && format !== 'json' && format !== 'jsonl')
    throw usageError(`--jq and --template need JSON: they cannot be combined with --format ${format}`)
  return jq === undefined ? { kind: 'template', text: template ?? '' } : { kind: 'jq', expression: jq }
}
