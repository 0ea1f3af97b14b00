import { EXIT } from '../contract/errors.js'
import { usageError } from './cli-error.js'
import { InterruptedError } from './interrupt.js'
import { tty } from './terminal.js'
import { createLineStream, writeErr } from './terminal-writer.js'

export interface PromptOptions {
  /** `--yes` */
  yes: boolean
  /** Whether a person can answer: stdin and stderr are terminals and prompts are allowed. */
  interactive: boolean
}

/** Asks for confirmation. @throws CliError exit 2 without a terminal and without `--yes` */
export async function confirm(question: string, options: PromptOptions): Promise<boolean> {
  if (options.yes) return true
  if (!options.interactive) throw usageError(`${question} needs confirmation`, 'use `--yes`')
  const answer = await askLine(`${question}? [y/N] `)
  return /^y(es)?$/i.test(answer.trim())
}

/**
 * Asks the user to type the name of a resource before it is deleted.
 *
 * @param options `given` is the value of `--confirm`
 * @throws CliError exit 2 without a terminal, or if `given` is another name
 */
export async function confirmByName(
  question: string,
  name: string,
  options: PromptOptions & { given: string | undefined },
): Promise<boolean> {
  if (options.yes || options.given === name) return true
  if (options.given !== undefined) {
    throw usageError(`--confirm must be ${JSON.stringify(name)}, received ${JSON.stringify(options.given)}`)
  }
  if (!options.interactive) {
    throw usageError(`${question} needs its name as confirmation`, `use \`--confirm ${name}\` or \`--yes\``)
  }
  return (await askLine(`${question}. Type ${name} to continue: `)).trim() === name
}

/** Writes the question to stderr and reads one line; empty after Ctrl-D. @throws InterruptedError after Ctrl-C */
export async function askLine(question: string): Promise<string> {
  const { createInterface } = await import('node:readline/promises')
  const lines = createInterface({ input: process.stdin, output: createLineStream(process.stderr) })
  try {
    return await new Promise<string>((resolve, reject) => {
      lines.once('SIGINT', () => reject(new InterruptedError('interrupted')))
      lines.once('close', () => resolve(''))
      lines.question(tty(question)).then(resolve, reject)
    })
  } finally {
    lines.close()
  }
}

/** Reads a line without echo, such as a token. */
export async function askSecret(question: string): Promise<string> {
  const { stdin } = process
  writeErr(tty(question))
  stdin.setRawMode(true)
  stdin.setEncoding('utf8')
  let line = ''
  try {
    for await (const chunk of stdin) {
      for (const key of String(chunk)) {
        if (key === '\r' || key === '\n') return line
        if (key === '\u0003') process.exit(EXIT.interrupted)
        line = key === '\u007f' ? line.slice(0, -1) : line + key
      }
    }
    return line
  } finally {
    stdin.setRawMode(false)
    writeErr('\n')
  }
}
