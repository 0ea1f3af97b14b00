import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CliError } from '../../cli/cli-error.js'
import { EXIT } from '../../contract/errors.js'

const USER_ONLY_MODE = 0o600

/**
 * Edits a text with the program of `VISUAL` or `EDITOR`, in a file that only this user can read.
 *
 * @returns the text, without trailing line breaks
 * @throws CliError exit 9 if the program cannot be run or fails
 */
export async function editText(text: string): Promise<string> {
  const program = process.env.VISUAL || process.env.EDITOR || 'vi'
  const folder = mkdtempSync(join(tmpdir(), 'kchat-'))
  const file = join(folder, 'message.md')
  // Ctrl-C belongs to the editor.
  process.on('SIGINT', ignore)
  try {
    writeFileSync(file, text, { mode: USER_ONLY_MODE })
    // Run by the shell, because the variable may contain arguments. The file is passed as an argument, not as shell
    // text.
    const child = spawn('/bin/sh', ['-c', `${program} "$1"`, program, file], { stdio: 'inherit' })
    const [code, signal] = await once(child, 'exit')
    if (code !== 0)
      throw new CliError(`${program} exited with ${code ?? signal}; the message is unchanged`, {
        exit: EXIT.notConfigured,
        hint: 'set EDITOR to another program',
      })
    return readFileSync(file, 'utf8').replace(/\s+$/, '')
  } finally {
    process.off('SIGINT', ignore)
    rmSync(folder, { recursive: true, force: true })
  }
}

function ignore(): void {}
