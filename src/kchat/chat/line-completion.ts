import { readdirSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { resolveLocalPath } from '../../local/local-path.js'
import { COMMANDS } from './commands.js'

/** The result of Tab: the completed line, and the other candidates. */
export interface LineCompletion {
  readonly text: string
  readonly candidates: readonly string[]
}

/** maximum file names from a folder */
const MAX_FILE_CANDIDATES = 40

/**
 * Completes a line up to the cursor: a command, the file of a command, or, in an empty line, the next suggested
 * question.
 *
 * @returns undefined if there is nothing to complete
 */
export function completeLine(text: string, suggestions: readonly string[]): LineCompletion | undefined {
  const suggestionIndex = suggestions.indexOf(text)
  if (text === '' || suggestionIndex !== -1) {
    const next = suggestions[(suggestionIndex + 1) % suggestions.length]
    return next === undefined ? undefined : { text: next, candidates: [] }
  }
  const word = /^\/(\S*)$/.exec(text)
  if (word !== null) {
    const names = COMMANDS.map(({ name }) => `/${name}`).filter((name) => name.startsWith(text))
    return completeToCommonPrefix('', text, names, ' ')
  }
  const [, head = '', name = '', path = ''] = /^(\/(\S+)\s+(?:-f\s+)?)(.*)$/su.exec(text) ?? []
  const takesFile = COMMANDS.some((command) => command.takesFile === true && command.name === name)
  return takesFile ? completeToCommonPrefix(head, path, listFiles(path), '') : undefined
}

/** Completes to the longest common prefix of all candidates. */
function completeToCommonPrefix(
  head: string,
  typed: string,
  candidates: readonly string[],
  suffix: string,
): LineCompletion | undefined {
  const [first, ...more] = candidates
  if (first === undefined) return undefined
  if (more.length === 0) return { text: head + first + (first.endsWith('/') ? '' : suffix), candidates: [] }
  let common = first
  for (const candidate of more) while (!candidate.startsWith(common)) common = common.slice(0, -1)
  return { text: head + (common.length > typed.length ? common : typed), candidates }
}

function listFiles(path: string): string[] {
  const expandedPath = path.startsWith('~/') ? resolveLocalPath(path) : path
  const [folder, prefix] = path.endsWith('/')
    ? [expandedPath, '']
    : [dirname(expandedPath === '' ? '.' : expandedPath), basename(expandedPath)]
  try {
    const typedFolder = path.slice(0, path.length - prefix.length)
    return readdirSync(folder, { withFileTypes: true })
      .filter(({ name }) => name.startsWith(prefix) && (prefix !== '' || !name.startsWith('.')))
      .slice(0, MAX_FILE_CANDIDATES)
      .map((entry) => `${typedFolder}${entry.name}${entry.isDirectory() ? '/' : ''}`)
      .sort()
  } catch {
    // A missing folder has no candidates.
    return []
  }
}
