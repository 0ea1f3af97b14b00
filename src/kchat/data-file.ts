import { usageError } from '../cli/cli-error.js'
import { readStdin, readTextFile } from '../cli/stdin.js'
import { toErrorMessage } from '../lib/error-message.js'

/**
 * Parses a data file: YAML by its file extension, otherwise JSON; `-` reads JSON from stdin.
 *
 * @param option name of the option with the file, for errors
 * @throws CliError exit 2
 */
export async function readData(path: string, option: string): Promise<unknown> {
  const text = path === '-' ? await readStdin(option) : await readTextFile(path, option)
  const isYaml = /\.ya?ml$/i.test(path)
  try {
    if (!isYaml) return JSON.parse(text)
    const { parse } = await import('yaml')
    return parse(text)
  } catch (error) {
    const source = path === '-' ? 'stdin' : JSON.stringify(path)
    throw usageError(`${source} is not valid ${isYaml ? 'YAML' : 'JSON'}: ${toErrorMessage(error).trim()}`)
  }
}
