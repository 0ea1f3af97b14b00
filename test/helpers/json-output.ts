import { readFileSync } from 'node:fs'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { isJsonRequested } from '../../src/cli/json-requested.js'
import { splitLeadingFlags } from '../../src/cli/leading-flags.js'
import type { JsonSchema } from '../../src/contract/json-schema.js'
import { isRecord } from '../../src/lib/json/values.js'

/** What a program printed, and its exit code; null after a signal. */
interface ProgramOutput {
  stdout: string
  stderr: string
  code: number | null
}

const ajv = new Ajv2020({
  strict: true,
  allowUnionTypes: true,
  formats: {
    uuid: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i,
    'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/,
    date: /^\d{4}-\d\d-\d\d$/,
    uri: (text: string) => URL.canParse(text),
  },
})

/** Compiles a schema, and thereby checks the schema itself. */
export function compileSchema(schema: JsonSchema): ValidateFunction {
  return ajv.compile(schema)
}

/** Flags that select or change what is printed. */
const FILTERS = /^(--(fields|jq|template|json-schema|help)\b|-h$)/

/** Command lines whose output is a file or a script, whatever the format. */
const BODIES: Readonly<Record<string, (words: readonly string[]) => boolean>> = {
  completion: (words) => !words.includes('--install') && !words.includes('--uninstall'),
  'docs:show': (words) => words.includes('--item') || (words.includes('--variant') && !words.includes('json')),
  'bundle:export': (words) => words.includes('-'),
}

const compiled = new Map<string, ValidateFunction | undefined>()

/**
 * Checks what `ks` printed with `--json` against the schema that `--json-schema` prints for the command, and the errors
 * of `ks` and `kchat` against theirs.
 *
 * @throws Error if it does not conform
 */
export async function checkJsonOutput(
  program: 'ks' | 'kchat',
  args: readonly string[],
  { env, output }: { env: Readonly<Record<string, string>>; output: ProgramOutput },
): Promise<void> {
  if (!isJsonRequested(args, env)) return
  const errors = output.stderr.split('\n').filter((line) => line.startsWith('{"error":'))
  if (errors.length > 0) await check('error', () => errors.map((line): unknown => JSON.parse(line)), args)
  const words = splitLeadingFlags(args.slice(0, args.includes('--') ? args.indexOf('--') : undefined)).rest
  if (program === 'kchat' || output.code === null || output.stdout.trim() === '') return
  if (args.some((word) => FILTERS.test(word)) || isLines(args, env)) return
  const id = findCommandId(words)
  if (id === undefined || BODIES[id]?.(words) === true) return
  await check(id === 'api' ? `api ${findOperationId(words)}` : id, () => parseValues(output.stdout), args)
}

async function check(name: string, parse: () => unknown[], args: readonly string[]): Promise<void> {
  if (!compiled.has(name)) compiled.set(name, await compileNamed(name))
  const validate = compiled.get(name)
  if (validate === undefined) return
  for (const value of parse()) {
    if (validate(value)) continue
    const problems = ajv.errorsText(validate.errors, { separator: '\n  ' })
    const shown = JSON.stringify(value).slice(0, 2000)
    throw new Error(`the JSON of \`ks ${args.join(' ')}\` does not conform to its schema:\n  ${problems}\n${shown}`)
  }
}

/** The check of `error`, of a command by its id, or of `api OPERATION`; undefined for outputs that are no JSON. */
async function compileNamed(name: string): Promise<ValidateFunction | undefined> {
  const { COMMAND_OUTPUTS } = await import('../../src/cli/json-output/commands.js')
  const { describeJsonOutput, describeReply } = await import('../../src/cli/json-output/describe.js')
  if (name === 'error')
    return compileSchema({ ...describeJsonOutput('docs'), anyOf: [{ $ref: '#/$defs/CommandError' }] })
  const [, operation] = name.split(' ')
  if (operation === undefined) {
    return typeof COMMAND_OUTPUTS[name] === 'string' ? undefined : compileSchema(describeJsonOutput(name))
  }
  if (operation === 'undefined') return undefined
  if (operation.startsWith('--')) return compileSchema(describeJsonOutput('api'))
  try {
    return compileSchema(describeReply(operation))
  } catch (error) {
    if (error instanceof Error && error.message.includes('does not reply with JSON')) return undefined
    throw error
  }
}

/** Whether each line is an item or an event. */
function isLines(args: readonly string[], env: Readonly<Record<string, string>>): boolean {
  const format = args.indexOf('--format')
  if (format !== -1) return args[format + 1] === 'jsonl'
  return args.includes('--format=jsonl') || (env['KS_FORMAT'] === 'jsonl' && !args.includes('--json'))
}

/** One value, or one of each line. @throws Error for a line that is no JSON */
function parseValues(text: string): unknown[] {
  try {
    return [JSON.parse(text)]
  } catch {
    return text
      .trim()
      .split('\n')
      .map((line): unknown => JSON.parse(line))
  }
}

let commandIds: ReadonlyMap<string, string> | undefined

/** The id of the command that the first words name; undefined for an alias of the user. */
function findCommandId(words: readonly string[]): string | undefined {
  commandIds ??= readCommandIds()
  for (let count = words.length; count > 0; count--) {
    const id = commandIds.get(words.slice(0, count).join(':'))
    if (id !== undefined) return id
  }
  return undefined
}

/** Ids by id and alias. */
function readCommandIds(): Map<string, string> {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../../oclif.manifest.json', import.meta.url), 'utf8'))
  const commands = isRecord(manifest) && isRecord(manifest.commands) ? Object.entries(manifest.commands) : []
  return new Map(
    commands.flatMap(([id, command]) => {
      const aliases = isRecord(command) && Array.isArray(command.aliases) ? command.aliases.map(String) : []
      return [id, ...aliases].map((name) => [name, id] as const)
    }),
  )
}

/** The operation of `ks api`, or the flag that selects another output; undefined for pages and addresses. */
function findOperationId([, operation, ...others]: readonly string[]): string | undefined {
  const flag = ['--list', '--describe'].find((name) => operation === name || others.includes(name))
  if (flag !== undefined) return flag
  return others.includes('--paginate') || !/^[a-z]\w+$/.test(operation ?? '') ? undefined : operation
}
