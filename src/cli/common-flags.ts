import * as Flags from '@oclif/core/flags'
import { usageError } from './cli-error.js'
import type { ContextFlags } from './contexts.js'
import { type Env, envValue, isEnvOn } from './environment.js'
import { FORMATS, type OutputFormat, type OutputOptions } from './output.js'
import { type OutputFilter, parseOutputFilter } from './output-filter.js'
import { parseSpan } from './units.js'

/** Flags of every command. */
const GLOBAL = { helpGroup: 'COMMON' }

export const commonFlags = {
  format: Flags.string({ ...GLOBAL, options: FORMATS, description: 'output format' }),
  json: Flags.boolean({ ...GLOBAL, description: 'same as --format json' }),
  fields: Flags.string({ ...GLOBAL, helpValue: 'a,b.c', description: 'fields to show, in this order' }),
  jq: Flags.string({
    ...GLOBAL,
    helpValue: 'expr',
    description: 'jq expression for the JSON output; prints strings without quotes',
  }),
  template: Flags.string({ ...GLOBAL, helpValue: 'text', description: 'Mustache template for the JSON output' }),
  'no-header': Flags.boolean({ ...GLOBAL, description: 'omit the table header' }),
  'no-truncate': Flags.boolean({ ...GLOBAL, description: 'do not cut tables to the terminal width' }),
  context: Flags.string({ ...GLOBAL, helpValue: 'name', description: 'context to use' }),
  url: Flags.string({ ...GLOBAL, helpValue: 'url', description: 'address of the service' }),
  'token-file': Flags.string({ ...GLOBAL, helpValue: 'file', description: 'file with the access token' }),
  yes: Flags.boolean({ ...GLOBAL, char: 'y', description: 'answer yes to every question' }),
  'no-input': Flags.boolean({ ...GLOBAL, description: 'never prompt' }),
  quiet: Flags.boolean({ ...GLOBAL, char: 'q', description: 'print only results and errors' }),
  verbose: Flags.boolean({ ...GLOBAL, char: 'v', description: 'print the service and space in use on stderr' }),
  debug: Flags.boolean({ ...GLOBAL, description: 'print request lines, trace ids and stacks on stderr' }),
  timeout: Flags.string({ ...GLOBAL, helpValue: '30s', description: 'time limit of the command' }),
  'no-autostart': Flags.boolean({ ...GLOBAL, description: 'fail instead of starting the local daemon' }),
  'no-pager': Flags.boolean({ ...GLOBAL, description: 'never use a pager' }),
  color: Flags.boolean({ ...GLOBAL, allowNo: true, description: 'force colours on or off' }),
}

/** Format of commands that draw graphs; the parser rejects it elsewhere. */
const DOT = 'dot'

/** `-s, --space` of commands that work in a space. */
export const spaceFlag = {
  space: Flags.string({ char: 's', helpValue: 'slug|id', description: 'space to use' }),
}

/** `--doc` of commands that can be limited to some documents. */
export const docFlag = {
  doc: Flags.string({
    multiple: true,
    multipleNonGreedy: true,
    helpValue: 'path|id',
    description: 'only these documents',
  }),
}

export const DEFAULT_LIST_LIMIT = 50

/** Flags of commands that list. */
export const listFlags = {
  limit: Flags.integer({
    min: 1,
    helpValue: 'n',
    description: `maximum number of items (default ${DEFAULT_LIST_LIMIT} at a terminal, else all)`,
  }),
  all: Flags.boolean({ description: 'list everything', exclusive: ['limit'] }),
  cursor: Flags.string({ helpValue: 'cursor', description: 'continue after this cursor of an earlier list' }),
}

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

/** Reads the common flags from the parsed flags. @throws CliError exit 2 */
export function readCommon(flags: Readonly<Record<string, unknown>>, env: Env): CommonOptions {
  const timeout = asText(flags.timeout) ?? envValue(env, 'KS_TIMEOUT')
  const filter = parseOutputFilter({
    jq: asText(flags.jq),
    template: asText(flags.template),
    format: asText(flags.format),
  })
  return {
    filter,
    pager: flags['no-pager'] !== true,
    output: {
      format: filter === undefined ? readFormat(flags) : (readFormat(flags) ?? 'json'),
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
      space: asText(flags.space),
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

function readFormat(flags: Readonly<Record<string, unknown>>): OutputFormat | undefined {
  const requested = asText(flags.format)
  if (flags.json !== true)
    return requested === undefined || requested === DOT ? undefined : parseFormat(requested, '--format')
  if (requested !== undefined && requested !== 'json') {
    throw usageError(`--json and --format ${requested} contradict each other: give one of them`)
  }
  return 'json'
}

/** @throws CliError exit 2 */
export function parseFormat(value: string, name: string): OutputFormat {
  const known = FORMATS.find((format) => format === value)
  if (known === undefined) {
    throw usageError(`${name} must be one of ${FORMATS.join(', ')}, received ${JSON.stringify(value)}`)
  }
  return known
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
