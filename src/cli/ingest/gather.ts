import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { usageError } from '../cli-error.js'
import { saveBody } from '../save-body.js'
import { readList } from '../stdin.js'
import { type WalkOptions, type WalkResult, walk } from './walk.js'

export interface GatherOptions extends WalkOptions {
  /** Whether stdin contains a list of paths. */
  listOnStdin: boolean
  /** Whether NUL separates the paths of the list, instead of line breaks. */
  nul: boolean
  /** Name of the document whose bytes are read from stdin. */
  name: string | undefined
}

export interface GatheredFiles extends WalkResult {
  /** Removes temporary files. */
  cleanUp: () => void
}

/** Collects the files of the arguments of `ks ingest`: paths, unexpanded patterns, and a list or bytes on stdin. */
export async function gatherFiles(args: readonly string[], options: GatherOptions): Promise<GatheredFiles> {
  const stdinCount = args.filter((word) => word === '-').length
  if (stdinCount > 1) throw usageError('stdin can be read only once: use `-` once')
  if (stdinCount === 1 && !options.listOnStdin) return await readDocumentFromStdin(args, options)
  const listedPaths = stdinCount === 1 ? await readList('the list of files', options.nul ? '\0' : /\r?\n/) : []
  const paths = args.flatMap((word) => (word === '-' ? listedPaths : [word]))
  return { ...walk(await expandPatterns(paths), options), cleanUp: () => undefined }
}

/** Writes a document from stdin to a file, since its size and hash are needed before the upload. */
async function readDocumentFromStdin(args: readonly string[], options: GatherOptions): Promise<GatheredFiles> {
  const { name } = options
  if (args.length > 1) throw usageError('a document from stdin cannot be combined with paths')
  if (name === undefined) {
    throw usageError(
      'a document from stdin needs a name',
      'use `--name note.md`; `--files-from-stdin` reads a list of paths',
    )
  }
  if (process.stdin.isTTY) throw usageError('the document is read from stdin, but stdin is a terminal')
  const folder = mkdtempSync(join(tmpdir(), 'ks-stdin-'))
  const path = join(folder, 'document')
  const cleanUp = () => rmSync(folder, { recursive: true, force: true })
  try {
    await saveBody(process.stdin, path)
  } catch (error) {
    cleanUp()
    throw error
  }
  return { roots: [], files: [{ path, filename: name }], skipped: [], failed: [], cleanUp }
}

/** Expands patterns that no shell expanded, as on Windows or in quotes. An existing path is never a pattern. */
async function expandPatterns(paths: string[]): Promise<string[]> {
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
