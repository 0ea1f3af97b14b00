import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { usageError } from '../cli-error.js'
import { saveBody } from '../save-body.js'
import { readList } from '../stdin.js'
import { type Found, type WalkOptions, walk } from './walk.js'

export interface GatherOptions extends WalkOptions {
  /** stdin is a list of paths */
  listOnStdin: boolean
  nul: boolean
  /** name of the document whose bytes come from stdin */
  name: string | undefined
}

export interface Gathered extends Found {
  /** removes what was written for the time of the command */
  cleanUp: () => void
}

/** The files behind the arguments of `ks ingest`: paths, patterns a shell did not expand, a list or bytes on stdin. */
export async function gatherFiles(words: readonly string[], options: GatherOptions): Promise<Gathered> {
  const stdin = words.filter((word) => word === '-').length
  if (stdin > 1) throw usageError('stdin can be read once: give `-` once')
  if (stdin === 1 && !options.listOnStdin) return await documentFromStdin(words, options)
  const listed = stdin === 1 ? await readList('the list of files', options.nul) : []
  const paths = words.flatMap((word) => (word === '-' ? listed : [word]))
  return { ...walk(await expand(paths), options), cleanUp: () => undefined }
}

/** A document from a pipe goes through a file, so that it has a size and a hash before it is sent. */
async function documentFromStdin(words: readonly string[], options: GatherOptions): Promise<Gathered> {
  const { name } = options
  if (words.length > 1) throw usageError('a document from stdin is ingested alone')
  if (name === undefined) {
    throw usageError(
      'a document from stdin needs a name',
      'give `--name note.md`; `--files-from-stdin` reads a list of paths',
    )
  }
  if (process.stdin.isTTY) throw usageError('the document is read from stdin, which is a terminal here')
  const folder = mkdtempSync(join(tmpdir(), 'ks-stdin-'))
  const path = join(folder, 'document')
  const cleanUp = () => rmSync(folder, { recursive: true, force: true })
  try {
    await saveBody(process.stdin, path)
  } catch (error) {
    cleanUp()
    throw error
  }
  return { files: [{ path, filename: name }], skipped: [], failed: [], cleanUp }
}

/** Patterns that no shell expanded, as on Windows or in quotes. A path that exists is never a pattern. */
async function expand(paths: string[]): Promise<string[]> {
  const expanded: string[] = []
  for (const path of paths) {
    if (existsSync(path) || !/[*?[{]/.test(path)) {
      expanded.push(path)
      continue
    }
    const { glob } = await import('tinyglobby')
    const matches = await glob(path, { expandDirectories: false, followSymbolicLinks: false })
    if (matches.length === 0) throw usageError(`${JSON.stringify(path)} matches no file`)
    expanded.push(...matches.sort())
  }
  return expanded
}
