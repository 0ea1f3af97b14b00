import { usageError } from './cli-error.js'

/** What is to be made of a command's JSON before it is printed. */
export type Wish = { kind: 'jq'; expression: string } | { kind: 'template'; text: string }

/** `--jq` or `--template`, which work on JSON. @throws CliError exit 2 */
export function wishOf(flags: {
  jq?: string | undefined
  template?: string | undefined
  format?: string | undefined
}): Wish | undefined {
  const { jq, template, format } = flags
  if (jq !== undefined && template !== undefined)
    throw usageError('--jq and --template both say how to print: give one of them')
  if (jq === undefined && template === undefined) return undefined
  if (format !== undefined && format !== 'json' && format !== 'jsonl')
    throw usageError(`--jq and --template need JSON: they do not go with --format ${format}`)
  return jq === undefined ? { kind: 'template', text: template ?? '' } : { kind: 'jq', expression: jq }
}
