import { usageError } from '../cli/cli-error.js'
import { readStdin, readTextFile } from '../cli/stdin.js'
import { toErrorMessage } from '../lib/error-message.js'

/**
 * Parses a data file: YAML by its file extension, otherwise JSON; `-` reads JSON from stdin.
 *
 * @param what the option with the file, for errors
 * @throws CliError exit 2
 */
export async function readData(path: string, what: string): Promise<unknown> {
  const text = path === '-' ? await readStdin(what) : await readTextFile(path, what)
  try {
    if (!/\.ya?ml$/i.test(path)) return JSON.parse(text)
    const { parse } = await import('yaml')
    return parse(text)
  } catch (error) {
    const reason = toErrorMessage(error)
    const kind = /\.ya?ml$/i.test(path) ? 'YAML' : 'JSON'
    throw usageError(`${path === '-' ? 'stdin' : JSON.stringify(path)} is not valid ${kind}: ${reason.trim()}`)
  }
}
