import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CliError } from '../../cli/cli-error.js'
import { EXIT } from '../../contract/errors.js'

const MINE = 0o600

/**
 * Has a text edited with the program that `VISUAL` or `EDITOR` names, in a file that only this user reads.
 *
 * @returns the text, without the line breaks at its end
 * @throws CliError exit 9 where the program is not to be run or fails
 */
export async function edited(text: string): Promise<string> {
  const program = process.env.VISUAL || process.env.EDITOR || 'vi'
  const folder = mkdtempSync(join(tmpdir(), 'kchat-'))
  const file = join(folder, 'message.md')
  // Ctrl-C in the editor is the editor's
  process.on('SIGINT', nothing)
  try {
    writeFileSync(file, text, { mode: MINE })
    // by the shell, since the variable may hold arguments; the file is no part of what the shell reads
    const child = spawn('/bin/sh', ['-c', `${program} "$1"`, program, file], { stdio: 'inherit' })
    const [code, signal] = await once(child, 'exit')
    if (code !== 0)
      throw new CliError(`${program} ended with ${code ?? signal}: the message is as it was`, {
        exit: EXIT.notConfigured,
        hint: 'EDITOR names another program',
      })
    return readFileSync(file, 'utf8').replace(/\s+$/, '')
  } finally {
    process.off('SIGINT', nothing)
    rmSync(folder, { recursive: true, force: true })
  }
}

function nothing(): void {}
