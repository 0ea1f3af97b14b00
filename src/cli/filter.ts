import { EXIT } from '../contract/errors.js'
import { CliError, usageError } from './cli-error.js'
import { tty } from './terminal.js'
import { writeTo } from './terminal-writer.js'
import type { Wish } from './wish.js'

/** Filters the JSON output of a command by `--jq` or `--template`. */
export class FilteredOutput {
  readonly isTTY = false
  readonly #wish: Wish
  readonly #stdout: NodeJS.WriteStream
  #text = ''

  constructor(wish: Wish, stdout: NodeJS.WriteStream) {
    this.#wish = wish
    this.#stdout = stdout
  }

  write(text: string): boolean {
    this.#text += text
    return true
  }

  /** @throws CliError exit 2 for an invalid expression or template, or a command without JSON output */
  async end(): Promise<void> {
    const values = valuesOf(this.#text)
    const isTerminal = this.#stdout.isTTY === true
    const made =
      this.#wish.kind === 'jq'
        ? await throughJq(values, this.#wish.expression, isTerminal)
        : await throughTemplate(values, this.#wish.text)
    if (made !== '') writeTo(this.#stdout, isTerminal ? tty(made) : made)
  }
}

/** Parses one JSON value a line. */
function valuesOf(text: string): unknown[] {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  try {
    return lines.map((line): unknown => JSON.parse(line))
  } catch (cause) {
    throw new CliError('no JSON output for --jq or --template', {
      code: 'usage',
      exit: EXIT.usage,
      cause,
    })
  }
}

async function throughJq(values: unknown[], expression: string, isTerminal: boolean): Promise<string> {
  const { raw } = await import('jq-wasm')
  const flags = isTerminal ? ['-r'] : ['-r', '-c']
  if (values.length === 0) return ''
  try {
    const made = await raw(values.map((value) => JSON.stringify(value)).join('\n'), expression, flags)
    return made === '' || made.endsWith('\n') ? made : `${made}\n`
  } catch (error) {
    const said = error instanceof Error ? error.message.replace(/^Failed to execute raw query: /, '') : String(error)
    throw usageError(
      `--jq: ${said.trim().split('\n')[0] ?? ''}`,
      'see https://jqlang.org/manual for the syntax',
    )
  }
}

async function throughTemplate(values: unknown[], text: string): Promise<string> {
  const { default: mustache } = await import('mustache')
  const template = text.replace(/\\([nt\\])/g, (_, letter) => (letter === 'n' ? '\n' : letter === 't' ? '\t' : '\\'))
  try {
    const written = values.map((value) => mustache.render(template, value, {}, { escape: plainText })).join('')
    return written === '' || written.endsWith('\n') ? written : `${written}\n`
  } catch (error) {
    throw usageError(`--template: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** Formats objects and lists as JSON, other values as text. */
function plainText(value: unknown): string {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value)
}
