import { usageError } from './cli-error.js'
import type { ContextFlags } from './contexts.js'
import { type Env, getEnvValue, isEnvOn } from './environment.js'
import type { OutputOptions } from './output.js'
import { type OutputFilter, parseOutputFilter } from './output-filter.js'
import { type OutputFormat, parseFormat } from './output-format.js'
import type { PromptOptions } from './prompt.js'
import { parseSpan } from './units.js'

/** Format of commands that draw graphs; the parser rejects it elsewhere. */
const DOT = 'dot'

/** The parsed common flags, with values of the environment for absent flags. */
export interface CommonOptions {
  output: OutputOptions
  context: ContextFlags
  yes: boolean
  noInput: boolean
  verbose: boolean
  debug: boolean
  timeoutMs: number | undefined
  filter: OutputFilter | undefined
  pager: boolean
}

/** Converts parsed flags to the common options. @throws CliError exit 2 for an invalid value */
export function readCommonOptions(flags: Readonly<Record<string, unknown>>, env: Env): CommonOptions {
  const timeout = asText(flags.timeout) ?? getEnvValue(env, 'KS_TIMEOUT')
  const filter = parseOutputFilter({
    jq: asText(flags.jq),
    template: asText(flags.template),
    format: asText(flags.format),
  })
  const format = readFormat(flags)
  return {
    filter,
    pager: flags['no-pager'] !== true,
    output: {
      format: filter === undefined ? format : (format ?? 'json'),
      fields: parseFields(asText(flags.fields)),
      header: flags['no-header'] !== true,
      truncate: flags['no-truncate'] !== true,
      colour: typeof flags.color === 'boolean' ? flags.color : undefined,
      quiet: flags.quiet === true,
    },
    context: {
      context: asText(flags.context),
      url: asText(flags.url),
      tokenFile: asText(flags['token-file']),
      // Commands that take several spaces use this one if only one is given.
      space: asText(Array.isArray(flags.space) ? flags.space[0] : flags.space),
      mode: asText(flags.mode),
      autostart: flags['no-autostart'] === true ? false : undefined,
    },
    yes: flags.yes === true,
    noInput: flags['no-input'] === true || isEnvOn(env, 'KS_NO_INPUT') || isEnvOn(env, 'CI'),
    verbose: flags.verbose === true,
    debug: flags.debug === true || isEnvOn(env, 'KS_DEBUG'),
    timeoutMs: timeout === undefined ? undefined : parseSpan(timeout, '--timeout'),
  }
}

/** Whether and how the user can be prompted: only if stdin and stderr are terminals. */
export function toPromptOptions({ yes, noInput }: CommonOptions): PromptOptions {
  const isTerminal = process.stdin.isTTY === true && process.stderr.isTTY === true
  return { yes, interactive: isTerminal && !noInput }
}

function readFormat(flags: Readonly<Record<string, unknown>>): OutputFormat | undefined {
  const requested = asText(flags.format)
  if (flags.json !== true)
    return requested === undefined || requested === DOT ? undefined : parseFormat(requested, '--format')
  if (requested !== undefined && requested !== 'json') {
    throw usageError(`--json and --format ${requested} contradict each other: give one of them`)
  }
  return 'json'
}

function parseFields(list: string | undefined): string[] | undefined {
  if (list === undefined) return undefined
  const fields = list.split(',').map((field) => field.trim())
  if (fields.some((field) => field === '')) throw usageError(`--fields must be names separated by commas`)
  return fields
}

function asText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
