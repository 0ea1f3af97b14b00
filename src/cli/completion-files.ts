import { existsSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, isAbsolute, join } from 'node:path'
import { usageError } from './cli-error.js'
import { type CompletionShell, SHELLS } from './completion.js'
import { quoteShellWord } from './shell-word.js'

/** User folders in which shells look for completion scripts, and their contents. */

const PROGRAMS = ['ks', 'kchat'] as const
type CompletedProgram = (typeof PROGRAMS)[number]

export interface CompletionScriptFile {
  program: CompletedProgram
  path: string
  /** The current content, if the file exists. */
  existing: string | undefined
}

/** The named shell, or the user's shell. @throws CliError exit 2 */
export function resolveShell(text: string | undefined, env: NodeJS.ProcessEnv): CompletionShell {
  const name = text ?? basename(env.SHELL ?? '')
  const shell = SHELLS.find((known) => known === name)
  if (shell !== undefined) return shell
  throw usageError(`no completion for ${JSON.stringify(name)}`, `use one of ${SHELLS.join(', ')}`)
}

export function listScriptFiles(shell: CompletionShell, env: NodeJS.ProcessEnv): CompletionScriptFile[] {
  return PROGRAMS.map((program) => {
    const path = join(getFolder(shell, env), getFileName(shell, program))
    return { program, path, existing: existsSync(path) ? readFileSync(path, 'utf8') : undefined }
  })
}

/** Whether `completion --install` wrote the file. */
export function isInstalledByUs({ program, existing }: CompletionScriptFile): boolean {
  return existing?.split('\n', 2).some((line) => line.includes(`completion for ${program}:`)) === true
}

/** The completion script, as the program prints it. @param root folder of the package */
export async function generateScript(program: CompletedProgram, shell: CompletionShell, root: string): Promise<string> {
  const { execa } = await import('execa')
  const { stdout } = await execa(process.execPath, [join(root, 'bin', `${program}.js`), 'completion', shell], {
    stripFinalNewline: false,
    stdin: 'ignore',
  })
  return stdout
}

/** The manual step that remains after the installation; `undefined` if none. */
export function describeRemainingStep(shell: CompletionShell, env: NodeJS.ProcessEnv): string | undefined {
  const folder = getFolder(shell, env)
  if (shell === 'fish') return undefined
  if (shell === 'bash') {
    if (BASH_COMPLETION_PATHS.some((path) => existsSync(path))) return undefined
    const lines = PROGRAMS.map((program) => `source ${quoteShellWord(join(folder, getFileName(shell, program)))}`)
    return `package bash-completion not found: install it, or add to ~/.bashrc: ${lines.join('; ')}`
  }
  const zshrc = join(env.ZDOTDIR || homedir(), '.zshrc')
  const isConfigured = existsSync(zshrc) && readFileSync(zshrc, 'utf8').includes(folder)
  return isConfigured
    ? undefined
    : `add to the beginning of ${zshrc}: fpath=(${quoteShellWord(folder)} $fpath); autoload -Uz compinit; compinit`
}

/** Files of the package bash-completion, which loads a user's scripts by program name. */
const BASH_COMPLETION_PATHS = [
  '/usr/share/bash-completion/bash_completion',
  '/usr/local/share/bash-completion/bash_completion',
  '/opt/homebrew/share/bash-completion/bash_completion',
]

function getFolder(shell: CompletionShell, env: NodeJS.ProcessEnv): string {
  const data = ifAbsolute(env.XDG_DATA_HOME) ?? join(homedir(), '.local', 'share')
  if (shell === 'bash') return join(env.BASH_COMPLETION_USER_DIR || join(data, 'bash-completion'), 'completions')
  if (shell === 'zsh') return join(data, 'zsh', 'site-functions')
  return join(ifAbsolute(env.XDG_CONFIG_HOME) ?? join(homedir(), '.config'), 'fish', 'completions')
}

/** XDG Base Directory 0.8 ignores relative paths in these variables. */
function ifAbsolute(value: string | undefined): string | undefined {
  return value !== undefined && isAbsolute(value) ? value : undefined
}

function getFileName(shell: CompletionShell, program: CompletedProgram): string {
  return shell === 'bash' ? program : shell === 'zsh' ? `_${program}` : `${program}.fish`
}
