import { usageError } from './cli-error.js'
import { Interrupted } from './interrupt.js'
import { tty } from './terminal.js'
import { lineStream, writeErr } from './terminal-writer.js'

export interface PromptOptions {
  /** `--yes` */
  yes: boolean
  /** whether a person can answer: stdin and stderr are terminals and nothing forbids asking */
  interactive: boolean
}

/** Asks for a yes. @throws CliError exit 2 when nobody can answer and `--yes` was not given */
export async function confirm(question: string, options: PromptOptions): Promise<boolean> {
  if (options.yes) return true
  if (!options.interactive) throw usageError(`${question} needs a yes`, 'give `--yes`')
  const answer = await ask(`${question}? [y/N] `)
  return /^y(es)?$/i.test(answer.trim())
}

/**
 * Asks for the name of what will be destroyed; `given` is the value of `--confirm`.
 *
 * @throws CliError exit 2 when nobody can answer, or `given` is another name
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
    throw usageError(`${question} needs its name as confirmation`, `give \`--confirm ${name}\` or \`--yes\``)
  }
  return (await ask(`${question}. Type ${name} to go on: `)).trim() === name
}

/** One line from the person at the terminal; the question goes to stderr. */
export async function ask(question: string): Promise<string> {
  const { createInterface } = await import('node:readline/promises')
  const lines = createInterface({ input: process.stdin, output: lineStream(process.stderr) })
  try {
    return await new Promise<string>((resolve, reject) => {
      lines.once('SIGINT', () => reject(new Interrupted('interrupted')))
      lines.once('close', () => resolve('')) // Ctrl-D is no answer
      lines.question(tty(question)).then(resolve, reject)
    })
  } finally {
    lines.close()
  }
}

/** A line that is not echoed: tokens. */
export async function askSecret(question: string): Promise<string> {
  const { stdin } = process
  writeErr(tty(question))
  stdin.setRawMode(true)
  stdin.setEncoding('utf8')
  let typed = ''
  try {
    for await (const chunk of stdin) {
      for (const key of String(chunk)) {
        if (key === '\r' || key === '\n') return typed
        if (key === '\u0003') process.exit(130)
        typed = key === '\u007f' ? typed.slice(0, -1) : typed + key
      }
    }
    return typed
  } finally {
    stdin.setRawMode(false)
    writeErr('\n')
  }
}
