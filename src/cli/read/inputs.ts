import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { usageError } from '../cli-error.js'
import { saveBody } from '../save-body.js'
import { shellWord } from '../shell-word.js'

/** A file to read: where it is, and what it is called. */
export interface Input {
  path: string
  filename: string
}

export interface Inputs {
  files: Input[]
  /** Removes what was kept of stdin; at once, since a process that is told to end waits for nothing. */
  done(): void
}

/**
 * What the arguments of `ks read` name. Bytes of stdin are kept in a file, since the reading process opens what it reads.
 *
 * @throws CliError exit 2 for an address, a folder, what is not there, and stdin without a name
 */
export async function inputsOf(args: readonly string[], name: string | undefined): Promise<Inputs> {
  for (const arg of args) refuse(arg)
  const fromStdin = args.includes('-')
  if (name !== undefined && !fromStdin)
    throw usageError('--name names what comes from stdin, which is asked for by `-`')
  if (fromStdin && args.filter((arg) => arg === '-').length > 1) throw usageError('stdin can be read once')
  if (fromStdin && name === undefined)
    throw usageError('what comes from stdin needs a name, by which its format is told', 'add `--name report.pdf`')
  if (fromStdin && process.stdin.isTTY) throw usageError('a file is read from stdin, which is a terminal here')
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
      `${JSON.stringify(arg)} is an address, and files are read here`,
      `\`curl -sL ${shellWord(arg)} | ks read - --name page.html\` reads one page, \`ks sources\` whole sites`,
    )
  const there = statSync(arg, { throwIfNoEntry: false })
  if (there === undefined) throw usageError(`there is no file ${JSON.stringify(arg)}`)
  if (there.isDirectory())
    throw usageError(
      `${JSON.stringify(arg)} is a folder, and files are read here`,
      `name its files: \`ks read ${shellWord(`${arg.replace(/\/+$/, '')}/`)}*\`; \`ks ingest\` takes folders`,
    )
}
