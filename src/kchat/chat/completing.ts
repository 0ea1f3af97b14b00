import { readdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { COMMANDS } from './commands.js'

/** What Tab makes of a line, and what else it could be. */
export interface Completed {
  readonly text: string
  readonly candidates: readonly string[]
}

/** names that are read of a folder */
const CANDIDATES = 40

/**
 * Completes a line up to the cursor: a command, a file that it takes, or, on an empty line, the next suggested question.
 *
 * @returns undefined where there is nothing to complete
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

/** As much as all candidates have in common. */
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
    // a folder that is not there has nothing to complete
    return []
  }
}
