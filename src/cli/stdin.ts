import { usageError } from './cli-error.js'
import { toUnreadableError } from './input-file.js'

/** Reads stdin as text. @param label description of the content for messages @throws CliError exit 2 for a terminal */
export async function readStdin(label: string): Promise<string> {
  if (process.stdin.isTTY) throw usageError(`${label} is read from stdin, but stdin is a terminal`)
  process.stdin.setEncoding('utf8')
  let text = ''
  for await (const chunk of process.stdin) text += chunk
  return text
}

/** Returns the argument, or stdin for `-`. */
export async function readTextOrStdin(argument: string, label: string): Promise<string> {
  return argument === '-' ? (await readStdin(label)).trim() : argument
}

/** Reads a list from stdin; omits empty entries. */
export async function readList(label: string, separator: string | RegExp): Promise<string[]> {
  const text = await readStdin(label)
  return text.split(separator).filter((entry) => entry !== '')
}

/** Reads a text file. @throws CliError exit 2 if it cannot be read or is not UTF-8 */
export async function readTextFile(path: string, label: string): Promise<string> {
  const { readFile } = await import('node:fs/promises')
  const bytes = await readFile(path).catch((error: unknown) => {
    throw toUnreadableError(label, path, error)
  })
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw usageError(`${JSON.stringify(path)} is not UTF-8 text`)
  }
}
