import { existsSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, isAbsolute, join } from 'node:path'
import { usageError } from './cli-error.js'
import { SHELLS, type Shell } from './completion.js'
import { shellWord } from './shell-word.js'

/** User folders in which shells look for completion scripts, and their contents. */

const PROGRAMS = ['ks', 'kchat'] as const
type Program = (typeof PROGRAMS)[number]

export interface ScriptFile {
  program: Program
  path: string
  /** The current content, if the file exists. */
  before: string | undefined
}

/** The named shell, or the user's shell. @throws CliError exit 2 */
export function shellNamed(text: string | undefined, env: NodeJS.ProcessEnv): Shell {
  const name = text ?? basename(env.SHELL ?? '')
  const known = SHELLS.find((shell) => shell === name)
  if (known !== undefined) return known
  throw usageError(`no completion for ${JSON.stringify(name)}`, `use one of ${SHELLS.join(', ')}`)
}

export function scriptFiles(shell: Shell, env: NodeJS.ProcessEnv): ScriptFile[] {
  return PROGRAMS.map((program) => {
    const path = join(folderOf(shell, env), fileName(shell, program))
    return { program, path, before: existsSync(path) ? readFileSync(path, 'utf8') : undefined }
  })
}

/** Whether `completion install` wrote the file. */
export function isOurs({ program, before }: ScriptFile): boolean {
  return before?.split('\n', 2).some((line) => line.includes(`completion for ${program}:`)) === true
}

/** The completion script, as the program prints it. */
export async function scriptOf(program: Program, shell: Shell, root: string): Promise<string> {
  const { execa } = await import('execa')
  const { stdout } = await execa(process.execPath, [join(root, 'bin', `${program}.js`), 'completion', shell], {
    stripFinalNewline: false,
    stdin: 'ignore',
  })
  return stdout
}

/** The manual step that remains after the installation; `undefined` if none. */
export function stillToDo(shell: Shell, env: NodeJS.ProcessEnv): string | undefined {
  const folder = folderOf(shell, env)
  if (shell === 'fish') return undefined
  if (shell === 'bash') {
    if (LOADERS.some((path) => existsSync(path))) return undefined
    const lines = PROGRAMS.map((program) => `source ${shellWord(join(folder, fileName(shell, program)))}`)
    return `package bash-completion not found: install it, or add to ~/.bashrc: ${lines.join('; ')}`
  }
  const zshrc = join(env.ZDOTDIR || homedir(), '.zshrc')
  const has = existsSync(zshrc) && readFileSync(zshrc, 'utf8').includes(folder)
  return has
    ? undefined
    : `add to the beginning of ${zshrc}: fpath=(${shellWord(folder)} $fpath); autoload -Uz compinit; compinit`
}

/** Files of the package bash-completion, which loads a user's scripts by program name. */
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

/** XDG Base Directory 0.8 ignores relative paths in these variables. */
function xdg(value: string | undefined): string | undefined {
  return value !== undefined && isAbsolute(value) ? value : undefined
}

function fileName(shell: Shell, program: Program): string {
  return shell === 'bash' ? program : shell === 'zsh' ? `_${program}` : `${program}.fish`
}
