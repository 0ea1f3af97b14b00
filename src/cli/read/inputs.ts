import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { usageError } from '../cli-error.js'
import { saveBody } from '../save-body.js'
import { shellWord } from '../shell-word.js'

/** A file to read: its path and display name. */
export interface Input {
  path: string
  filename: string
}

export interface Inputs {
  files: Input[]
  /** Removes the copy of stdin; synchronous, since a terminating process does not wait. */
  done(): void
}

/**
 * Resolves the arguments of `ks read`. Bytes of stdin are copied to a file, since the reader process opens files.
 *
 * @throws CliError exit 2 for an address, a folder, a missing file, and stdin without a name
 */
export async function inputsOf(args: readonly string[], name: string | undefined): Promise<Inputs> {
  for (const arg of args) refuse(arg)
  const fromStdin = args.includes('-')
  if (name !== undefined && !fromStdin)
    throw usageError('--name is only for input from stdin: `-`')
  if (fromStdin && args.filter((arg) => arg === '-').length > 1) throw usageError('stdin can be read only once')
  if (fromStdin && name === undefined)
    throw usageError('input from stdin needs a name, which determines its format', 'add `--name report.pdf`')
  if (fromStdin && process.stdin.isTTY) throw usageError('a file is read from stdin, but stdin is a terminal')
  const folder = fromStdin ? mkdtempSync(join(tmpdir(), 'ks-read-')) : undefined
  const kept = folder === undefined ? '' : join(folder, 'stdin')
  const done = () => {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
  }
  try {
    if (fromStdin) await saveBody(process.stdin, kept)
  } catch (error) {
    done()
    throw error
  }
  const files = args.map((arg) =>
    arg === '-' ? { path: kept, filename: basename(name ?? arg) } : { path: resolve(arg), filename: basename(arg) },
  )
  return { files, done }
}

function refuse(arg: string): void {
  if (arg === '-') return
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(arg))
    throw usageError(
      `${JSON.stringify(arg)} is an address, not a file`,
      `\`curl -sL ${shellWord(arg)} | ks read - --name page.html\` reads one page, \`ks sources\` complete sites`,
    )
  const there = statSync(arg, { throwIfNoEntry: false })
  if (there === undefined) throw usageError(`no file ${JSON.stringify(arg)}`)
  if (there.isDirectory())
    throw usageError(
      `${JSON.stringify(arg)} is a folder, not a file`,
      `list its files: \`ks read ${shellWord(`${arg.replace(/\/+$/, '')}/`)}*\`; \`ks ingest\` takes folders`,
    )
}
