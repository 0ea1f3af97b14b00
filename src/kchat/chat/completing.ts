import { readdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { COMMANDS } from './commands.js'

/** The result of Tab: the completed line, and the other candidates. */
export interface Completed {
  readonly text: string
  readonly candidates: readonly string[]
}

/** maximum file names from a folder */
const CANDIDATES = 40

/**
 * Completes a line up to the cursor: a command, the file of a command, or, in an empty line, the next suggested
 * question.
 *
 * @returns undefined if there is nothing to complete
 */
export function complete(text: string, suggestions: readonly string[]): Completed | undefined {
  const at = suggestions.indexOf(text)
  if (text === '' || at !== -1) {
    const next = suggestions[(at + 1) % suggestions.length]
    return next === undefined ? undefined : { text: next, candidates: [] }
  }
  const word = /^\/(\S*)$/.exec(text)
  if (word !== null) {
    const names = COMMANDS.map(({ name }) => `/${name}`).filter((name) => name.startsWith(text))
    return completed('', text, names, ' ')
  }
  const [, head = '', name = '', path = ''] = /^(\/(\S+)\s+(?:-f\s+)?)(.*)$/su.exec(text) ?? []
  const takesFile = COMMANDS.some((command) => command.takesFile === true && command.name === name)
  return takesFile ? completed(head, path, filesFor(path), '') : undefined
}

/** Completes to the longest common prefix of all candidates. */
function completed(head: string, typed: string, candidates: readonly string[], end: string): Completed | undefined {
  const [first, ...more] = candidates
  if (first === undefined) return undefined
  if (more.length === 0) return { text: head + first + (first.endsWith('/') ? '' : end), candidates: [] }
  let common = first
  for (const one of more) while (!one.startsWith(common)) common = common.slice(0, -1)
  return { text: head + (common.length > typed.length ? common : typed), candidates }
}

function filesFor(path: string): string[] {
  const whole = path.startsWith('~/') ? join(homedir(), path.slice(1)) : path
  const [folder, begin] = path.endsWith('/') ? [whole, ''] : [dirname(whole === '' ? '.' : whole), basename(whole)]
  try {
    const before = path.slice(0, path.length - begin.length)
    return readdirSync(folder, { withFileTypes: true })
      .filter(({ name }) => name.startsWith(begin) && (begin !== '' || !name.startsWith('.')))
      .slice(0, CANDIDATES)
      .map((entry) => `${before}${entry.name}${entry.isDirectory() ? '/' : ''}`)
      .sort()
  } catch {
    // A missing folder has no candidates.
    return []
  }
}
