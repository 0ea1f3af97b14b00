import { usageError } from './cli-error.js'
import { unreadable } from './input-file.js'

/** Reads stdin as text. @throws CliError exit 2 if stdin is a terminal */
export async function readStdin(what: string): Promise<string> {
  if (process.stdin.isTTY) throw usageError(`${what} is read from stdin, but stdin is a terminal`)
  process.stdin.setEncoding('utf8')
  let text = ''
  for await (const chunk of process.stdin) text += chunk
  return text
}

/** Returns the argument, or stdin for `-`. */
export async function textOrStdin(argument: string, what: string): Promise<string> {
  return argument === '-' ? (await readStdin(what)).trim() : argument
}

/** Reads a list from stdin: one entry a line, or NUL-separated. */
export async function readList(what: string, nul: boolean): Promise<string[]> {
  const text = await readStdin(what)
  return text.split(nul ? '\0' : /\r?\n/).filter((entry) => entry !== '')
}

/** Reads a text file. @throws CliError exit 2 if it cannot be read or is not UTF-8 */
export async function readTextFile(path: string, what: string): Promise<string> {
  const { readFile } = await import('node:fs/promises')
  const bytes = await readFile(path).catch((error: unknown) => {
    throw unreadable(what, path, error)
  })
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw usageError(`${JSON.stringify(path)} is not UTF-8 text`)
  }
}
