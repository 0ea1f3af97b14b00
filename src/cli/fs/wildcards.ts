import { usageError } from '../cli-error.js'

const WILDCARDS = /[*?[{]/
const ESCAPED = /[\\.+*?()|[\]{}^$]/g

export function hasWildcards(text: string): boolean {
  return WILDCARDS.test(text)
}

/** Quotes a text for a regular expression. */
export function quoteExpression(text: string): string {
  return text.replace(ESCAPED, '\\$&')
}

export interface WildcardOptions {
  ignoreCase?: boolean
  /** Whether `*` and `?` match `/`, as in `find -path`. */
  crossesFolders?: boolean
}

/**
 * Compiles a pattern of the shell: `*`, `?`, `[a-z]`, `[!a]`, `{a,b}`, `**` for any folders, and a backslash before a
 * literal character. It takes linear time on any name.
 *
 * @throws CliError exit 2 for a malformed pattern
 */
export async function compileWildcards(
  pattern: string,
  options: WildcardOptions = {},
): Promise<(name: string) => boolean> {
  const { RE2JS, RE2JSException } = await import('re2js')
  const flags = RE2JS.DOTALL | (options.ignoreCase ? RE2JS.CASE_INSENSITIVE : 0)
  try {
    const compiled = RE2JS.compile(toExpression(pattern, options.crossesFolders === true), flags)
    return (name) => compiled.matches(name)
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error
    throw usageError(`${JSON.stringify(pattern)} is not a pattern of file names: ${error.message}`)
  }
}

function toExpression(pattern: string, crossesFolders: boolean): string {
  const character = crossesFolders ? '.' : '[^/]'
  let expression = ''
  let openBraces = 0
  for (let index = 0; index < pattern.length; index++) {
    const rest = pattern.slice(index)
    const set = /^\[([!^]?)(\]?[^\]]*)\]/.exec(rest)
    if (rest.startsWith('**/')) {
      expression += '(?:[^/]+/)*'
      index += 2
    } else if (rest.startsWith('**')) {
      expression += '.*'
      index += 1
    } else if (rest.startsWith('*')) expression += `${character}*`
    else if (rest.startsWith('?')) expression += character
    else if (set !== null) {
      expression += `[${set[1] === '' ? '' : '^'}${(set[2] ?? '').replace(/[\\[\]^]/g, '\\$&')}]`
      index += set[0].length - 1
    } else if (/^\{[^{}]*,[^{}]*\}/.test(rest)) {
      expression += '(?:'
      openBraces += 1
    } else if (openBraces > 0 && rest.startsWith(',')) expression += '|'
    else if (openBraces > 0 && rest.startsWith('}')) {
      expression += ')'
      openBraces -= 1
    } else {
      if (rest.startsWith('\\') && rest.length > 1) index += 1
      expression += quoteExpression(String.fromCodePoint(pattern.codePointAt(index) ?? 0))
      if ((pattern.codePointAt(index) ?? 0) > 0xffff) index += 1
    }
  }
  return expression
}
