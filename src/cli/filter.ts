import { EXIT } from '../contract/errors.js'
import { toErrorMessage } from '../lib/error-message.js'
import { CliError, usageError } from './cli-error.js'
import type { OutputFilter } from './output-filter.js'
import { tty } from './terminal.js'
import { writeTo } from './terminal-writer.js'

/** Filters the JSON output of a command by `--jq` or `--template`. */
export class FilteredOutput {
  readonly isTTY = false
  readonly #filter: OutputFilter
  readonly #stdout: NodeJS.WriteStream
  #text = ''

  constructor(filter: OutputFilter, stdout: NodeJS.WriteStream) {
    this.#filter = filter
    this.#stdout = stdout
  }

  write(text: string): boolean {
    this.#text += text
    return true
  }

  /** @throws CliError exit 2 for an invalid expression or template, or a command without JSON output */
  async end(): Promise<void> {
    const values = parseValues(this.#text)
    const isTerminal = this.#stdout.isTTY === true
    const output =
      this.#filter.kind === 'jq'
        ? await applyJq(values, this.#filter.expression, isTerminal ? ['-r'] : ['-r', '-c'])
        : await applyTemplate(values, this.#filter.text)
    if (output !== '') writeTo(this.#stdout, isTerminal ? tty(output) : output)
  }
}

/** Parses one JSON value a line. */
function parseValues(text: string): unknown[] {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  try {
    return lines.map((line): unknown => JSON.parse(line))
  } catch (cause) {
    throw new CliError('no JSON output for --jq or --template', { code: 'usage', exit: EXIT.usage, cause })
  }
}

async function applyJq(values: unknown[], expression: string, flags: string[]): Promise<string> {
  const { raw } = await import('jq-wasm')
  if (values.length === 0) return ''
  try {
    const output = await raw(values.map((value) => JSON.stringify(value)).join('\n'), expression, flags)
    return output === '' || output.endsWith('\n') ? output : `${output}\n`
  } catch (error) {
    const message = error instanceof Error ? error.message.replace(/^Failed to execute raw query: /, '') : String(error)
    throw usageError(`--jq: ${message.trim().split('\n')[0] ?? ''}`, 'see https://jqlang.org/manual for the syntax')
  }
}

async function applyTemplate(values: unknown[], text: string): Promise<string> {
  const { default: mustache } = await import('mustache')
  const template = text.replace(/\\([nt\\])/g, (_, letter) => (letter === 'n' ? '\n' : letter === 't' ? '\t' : '\\'))
  try {
    const output = values.map((value) => mustache.render(template, value, {}, { escape: toPlainValue })).join('')
    return output === '' || output.endsWith('\n') ? output : `${output}\n`
  } catch (error) {
    throw usageError(`--template: ${toErrorMessage(error)}`)
  }
}

/** Formats objects and lists as JSON, other values as text. */
function toPlainValue(value: unknown): string {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value)
}
