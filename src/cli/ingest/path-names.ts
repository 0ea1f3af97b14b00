import { realpathSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, normalize, sep } from 'node:path'
import { usageError } from '../cli-error.js'

/** A path that was given to a walk. */
export interface WalkedRoot {
  /** Real path; of files that are given with others, the working directory that names them. */
  path: string
  /** Name of the document, or of the folder of the documents. */
  name: string
  isFolder: boolean
  /** Whether all files of the folder were visited. */
  isWalked: boolean
}

/** Hint for a path that does not exist. */
export function getMissingPathHint(path: string): string | undefined {
  if (path.includes('\ufffd')) return 'names that are not UTF-8 cannot be arguments: ingest their folder'
  if (/^https?:\/\//.test(path)) return `add web pages as a source: \`ks sources add NAME --uri ${path}\``
  return undefined
}

/** The name of one of several documents: its relative path, so that names differ; its base name if outside. */
export function toDocumentName(path: string): string {
  const normalized = normalize(path)
  const name = isAbsolute(normalized) || normalized.startsWith('..') ? basename(normalized) : normalized
  return name.split(sep).join('/')
}

/** The root that names a given file: the folder above it that is not part of its name, else the file itself. */
export function toFileRoot(absolute: string, filename: string): WalkedRoot {
  const path = resolveFile(absolute)
  const ending = filename.split('/').join(sep)
  return ending !== basename(absolute) && path.endsWith(sep + ending)
    ? { path: path.slice(0, -ending.length - 1) || sep, name: '', isFolder: true, isWalked: false }
    : { path, name: filename, isFolder: false, isWalked: false }
}

/** The path of a file in its real folder; the file itself may be a symbolic link. */
export function resolveFile(path: string): string {
  return join(realpathSync(dirname(path)), basename(path))
}

/** @throws CliError exit 2 if two files have the same name */
export function checkUniqueNames(files: readonly { path: string; filename: string }[]): void {
  const paths = new Map<string, string>()
  for (const { path, filename } of files) {
    const previous = paths.get(filename)
    if (previous !== undefined && previous !== path) {
      throw usageError(
        `${previous} and ${path} would both be named ${JSON.stringify(filename)}`,
        'ingest their common folder, or ingest them into two spaces',
      )
    }
    paths.set(filename, path)
  }
}
