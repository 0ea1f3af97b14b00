import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { usageError } from '../cli-error.js'
import { saveBody } from '../save-body.js'
import { quoteShellWord } from '../shell-word.js'

/** A file to read: its path and display name. */
export interface ReadInput {
  path: string
  filename: string
}

export interface ReadInputs {
  files: ReadInput[]
  /** Removes the copy of stdin; synchronous, since a terminating process does not wait. */
  cleanUp(): void
}

/**
 * Resolves the arguments of `ks read`. Bytes of stdin are copied to a file, since the reader process opens files.
 *
 * @throws CliError exit 2 for an address, a folder, a missing file, and stdin without a name
 */
export async function resolveInputs(args: readonly string[], name: string | undefined): Promise<ReadInputs> {
  for (const arg of args) checkInput(arg)
  const stdinCount = args.filter((arg) => arg === '-').length
  const hasStdin = stdinCount > 0
  if (name !== undefined && !hasStdin) throw usageError('--name is only for input from stdin: `-`')
  if (stdinCount > 1) throw usageError('stdin can be read only once')
  if (hasStdin && name === undefined)
    throw usageError('input from stdin needs a name, which determines its format', 'add `--name report.pdf`')
  if (hasStdin && process.stdin.isTTY) throw usageError('a file is read from stdin, but stdin is a terminal')
  const folder = hasStdin ? mkdtempSync(join(tmpdir(), 'ks-read-')) : undefined
  const stdinCopy = folder === undefined ? '' : join(folder, 'stdin')
  const cleanUp = () => {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
  }
  try {
    if (hasStdin) await saveBody(process.stdin, stdinCopy)
  } catch (error) {
    cleanUp()
    throw error
  }
  const files = args.map((arg) =>
    arg === '-'
      ? { path: stdinCopy, filename: basename(name ?? arg) }
      : { path: resolve(arg), filename: basename(arg) },
  )
  return { files, cleanUp }
}

function checkInput(arg: string): void {
  if (arg === '-') return
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(arg))
    throw usageError(
      `${JSON.stringify(arg)} is an address, not a file`,
      `\`curl -sL ${quoteShellWord(arg)} | ks read - --name page.html\` reads one page, \`ks sources\` complete sites`,
    )
  const stats = statSync(arg, { throwIfNoEntry: false })
  if (stats === undefined) throw usageError(`no file ${JSON.stringify(arg)}`)
  if (stats.isDirectory())
    throw usageError(
      `${JSON.stringify(arg)} is a folder, not a file`,
      `list its files: \`ks read ${quoteShellWord(`${arg.replace(/\/+$/, '')}/`)}*\`; \`ks ingest\` takes folders`,
    )
}
