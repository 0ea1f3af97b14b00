import { realpathSync, statSync } from 'node:fs'
import { dirname, relative, sep } from 'node:path'
import type { LocalDirs } from '../../local/dirs.js'
import { usageError } from '../cli-error.js'
import type { WalkOptions } from '../ingest/walk.js'
import { ownFiles } from '../own-files.js'

/** File selection of a watched folder. */
export interface WatchRules {
  ignore: readonly string[]
  glob: readonly string[]
  hidden: boolean
  ignoreFiles: boolean
}

/** Adds the folders of this program to the excluded ones: they change with every scan. */
export function walkOptionsOf(folder: string, rules: WatchRules, dirs: LocalDirs): WalkOptions {
  const ownFolders = [dirs.data, dirs.state, dirs.cache, dirs.config].flatMap((dir) => pathBelow(folder, dir) ?? [])
  const { ignore, glob, hidden, ignoreFiles } = rules
  return {
    glob,
    hidden,
    ignoreFiles,
    own: ownFiles(dirs),
    ignore: [...ignore, ...ownFolders.map((path) => `/${escaped(path)}/`)],
  }
}

/** @throws CliError exit 2 if the path is not a folder, or is in a directory of this program */
export function checkFolder(folder: string, dirs: LocalDirs): void {
  const stats = statSync(folder, { throwIfNoEntry: false })
  if (stats === undefined) throw usageError(`${JSON.stringify(folder)} does not exist`)
  if (!stats.isDirectory()) {
    throw usageError(`${JSON.stringify(folder)} is not a folder`, '`ks ingest` takes single files')
  }
  const refusal = ownFiles(dirs).refusal(folder)
  if (refusal !== undefined) throw usageError(refusal)
}

/** The path of a descendant folder, compared by device and inode; undefined if it is not below. */
function pathBelow(folder: string, other: string): string | undefined {
  const wanted = identity(folder)
  if (wanted === undefined || identity(other) === undefined) return undefined
  const real = realpathSync(other)
  for (let above = real; dirname(above) !== above; ) {
    above = dirname(above)
    if (identity(above) === wanted) return relative(above, real).split(sep).join('/')
  }
  return undefined
}

function identity(path: string): string | undefined {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false })
  return stats === undefined ? undefined : `${stats.dev}-${stats.ino}`
}

/** Escapes a path as a literal pattern. */
function escaped(path: string): string {
  return path.replace(/[\\*?[\]!# ]/g, '\\$&')
}
