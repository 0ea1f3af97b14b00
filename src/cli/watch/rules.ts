import { realpathSync, statSync } from 'node:fs'
import { dirname, relative, sep } from 'node:path'
import type { LocalDirs } from '../../local/dirs.js'
import { usageError } from '../cli-error.js'
import type { WalkOptions } from '../ingest/walk.js'
import { getProtectedFiles } from '../own-files.js'

/** File selection of a watched folder. */
export interface WatchRules {
  ignore: readonly string[]
  glob: readonly string[]
  hidden: boolean
  ignoreFiles: boolean
}

/** Converts rules to options of a walk, which also excludes the folders of this program: each scan changes them. */
export function toWalkOptions(folder: string, rules: WatchRules, dirs: LocalDirs): WalkOptions {
  const excludedFolders = [dirs.data, dirs.state, dirs.cache, dirs.config].flatMap(
    (dir) => findPathBelow(folder, dir) ?? [],
  )
  const { ignore, glob, hidden, ignoreFiles } = rules
  return {
    glob,
    hidden,
    ignoreFiles,
    protectedFiles: getProtectedFiles(dirs),
    // Escaped: a path is a literal pattern.
    ignore: [...ignore, ...excludedFolders.map((path) => `/${path.replace(/[\\*?[\]!# ]/g, '\\$&')}/`)],
  }
}

/** @throws CliError exit 2 if the path is not a folder, or is in a directory of this program */
export function checkWatchFolder(folder: string, dirs: LocalDirs): void {
  const stats = statSync(folder, { throwIfNoEntry: false })
  if (stats === undefined) throw usageError(`${JSON.stringify(folder)} does not exist`)
  if (!stats.isDirectory()) {
    throw usageError(`${JSON.stringify(folder)} is not a folder`, '`ks ingest` takes single files')
  }
  const refusal = getProtectedFiles(dirs).refusal(folder)
  if (refusal !== undefined) throw usageError(refusal)
}

/** The path of a descendant folder, compared by device and inode; undefined if it is not below. */
function findPathBelow(folder: string, descendant: string): string | undefined {
  const folderIdentity = getIdentity(folder)
  if (folderIdentity === undefined || getIdentity(descendant) === undefined) return undefined
  const real = realpathSync(descendant)
  for (let ancestor = real; dirname(ancestor) !== ancestor; ) {
    ancestor = dirname(ancestor)
    if (getIdentity(ancestor) === folderIdentity) return relative(ancestor, real).split(sep).join('/')
  }
  return undefined
}

function getIdentity(path: string): string | undefined {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false })
  return stats === undefined ? undefined : `${stats.dev}-${stats.ino}`
}
