import { existsSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, isAbsolute, join } from 'node:path'
import { usageError } from './cli-error.js'
import { SHELLS, type Shell } from './completion.js'
import { shellWord } from './shell-word.js'

/** Where shells look for completion scripts of a user, and what is to stand there. */

const PROGRAMS = ['ks', 'kchat'] as const
type Program = (typeof PROGRAMS)[number]

export interface ScriptFile {
  program: Program
  path: string
  /** what stands there now */
  before: string | undefined
}

/** The shell that is named, or that of the user. @throws CliError exit 2 */
export function shellNamed(text: string | undefined, env: NodeJS.ProcessEnv): Shell {
  const name = text ?? basename(env.SHELL ?? '')
  const known = SHELLS.find((shell) => shell === name)
  if (known !== undefined) return known
  throw usageError(`there is no completion for ${JSON.stringify(name)}`, `name one of ${SHELLS.join(', ')}`)
}

export function scriptFiles(shell: Shell, env: NodeJS.ProcessEnv): ScriptFile[] {
  return PROGRAMS.map((program) => {
    const path = join(folderOf(shell, env), fileName(shell, program))
    return { program, path, before: existsSync(path) ? readFileSync(path, 'utf8') : undefined }
  })
}

/** Whether a file is one that was put there by `completion install`. */
export function isOurs({ program, before }: ScriptFile): boolean {
  return before?.split('\n', 2).some((line) => line.includes(`completion for ${program}:`)) === true
}

/** The script, as the program itself prints it. */
export async function scriptOf(program: Program, shell: Shell, root: string): Promise<string> {
  const { execa } = await import('execa')
  const { stdout } = await execa(process.execPath, [join(root, 'bin', `${program}.js`), 'completion', shell], {
    stripFinalNewline: false,
    stdin: 'ignore',
  })
  return stdout
}

/** What a user has to do beside, once; undefined where nothing is left. */
export function stillToDo(shell: Shell, env: NodeJS.ProcessEnv): string | undefined {
  const folder = folderOf(shell, env)
  if (shell === 'fish') return undefined
  if (shell === 'bash') {
    if (LOADERS.some((path) => existsSync(path))) return undefined
    const lines = PROGRAMS.map((program) => `source ${shellWord(join(folder, fileName(shell, program)))}`)
    return `the package bash-completion, which loads it, is not here: install it, or add to ~/.bashrc: ${lines.join('; ')}`
  }
  const zshrc = join(env.ZDOTDIR || homedir(), '.zshrc')
  const has = existsSync(zshrc) && readFileSync(zshrc, 'utf8').includes(folder)
  return has
    ? undefined
    : `add to the beginning of ${zshrc}: fpath=(${shellWord(folder)} $fpath); autoload -Uz compinit; compinit`
}

/** of the package bash-completion, which loads scripts of users by the name of the program */
const LOADERS = [
  '/usr/share/bash-completion/bash_completion',
  '/usr/local/share/bash-completion/bash_completion',
  '/opt/homebrew/share/bash-completion/bash_completion',
]

function folderOf(shell: Shell, env: NodeJS.ProcessEnv): string {
  const data = xdg(env.XDG_DATA_HOME) ?? join(homedir(), '.local', 'share')
  if (shell === 'bash') return join(env.BASH_COMPLETION_USER_DIR || join(data, 'bash-completion'), 'completions')
  if (shell === 'zsh') return join(data, 'zsh', 'site-functions')
  return join(xdg(env.XDG_CONFIG_HOME) ?? join(homedir(), '.config'), 'fish', 'completions')
}

/** A relative path in such a variable is to be ignored (XDG Base Directory 0.8). */
function xdg(value: string | undefined): string | undefined {
  return value !== undefined && isAbsolute(value) ? value : undefined
}

function fileName(shell: Shell, program: Program): string {
  return shell === 'bash' ? program : shell === 'zsh' ? `_${program}` : `${program}.fish`
}
