import { homedir } from 'node:os'
import { join } from 'node:path'

/** `$NAME` or `${NAME}` at the beginning of a path, alone or before a slash. */
const VARIABLE = /^\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\})(?=[/\\]|$)/

/** The home folder of the user. @throws Error if the user has none */
export function getHomeFolder(): string {
  try {
    return homedir()
  } catch {
    throw new Error('this user has no home folder; set HOME to a folder that this program may write to')
  }
}

/**
 * Resolves `~` and an environment variable at the beginning of a path as a shell does, which leaves the value of
 * `--out=~/notes` and the paths of settings to the program.
 *
 * @throws Error if the variable is not set
 */
export function resolveLocalPath(path: string, env: NodeJS.ProcessEnv = process.env): string {
  if (path === '~' || /^~[/\\]/.test(path)) return join(getHomeFolder(), path.slice(1))
  const match = VARIABLE.exec(path)
  if (match === null) return path
  const name = match[1] ?? match[2] ?? ''
  const value = env[name]
  if (!value) throw new Error(`${JSON.stringify(path)} begins with the environment variable ${name}, which is not set`)
  return value + path.slice(match[0].length)
}
