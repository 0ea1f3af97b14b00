import { chmodSync, lstatSync, readdirSync, renameSync, type Stats, statSync } from 'node:fs'
import { join } from 'node:path'
import { KsError } from '../contract/errors.js'
import type { DataLayout } from './layout.js'
import { isCode } from './private-file.js'

/** Permissions of users other than the owner. */
const OTHERS = 0o077
const FOLDER_MODE = 0o700
const FILE_MODE = 0o600

const LOG_NAME = /^daemon\.log(?:\.\d+)?$/

/** Called with a path that was renamed because a file was in the place of a folder, or the reverse. */
export type OnAside = (path: string, aside: string) => void

/**
 * Restricts everything in a data directory to its owner: folders and files that others may read or write are changed.
 * Keys that others could read are left to the code that loads them: they may be known already.
 *
 * @param onAside where given, a folder at the path of a derived file, or a file at that of a derived folder, is renamed
 * @throws KsError `unavailable` where a path is a link, another user's, or of another kind
 */
export function makePrivate(layout: DataLayout, onAside?: OnAside): void {
  if (process.platform === 'win32') return // modes mean nothing on Windows
  // The directory itself may be a link: the user who starts the daemon chooses it.
  mend(layout.root, statSync(layout.root), FOLDER_MODE)
  const { runDir, logsDir, databaseDir, objects, indexes } = layout
  const { version, lock, daemonFile, cliToken, config, reserve, signingKey, dataKey, socket } = layout
  if (onAside !== undefined) {
    for (const folder of [runDir, logsDir, indexes]) putAside(folder, 'folder', onAside)
    const logs = namesIn(logsDir).filter((name) => LOG_NAME.test(name))
    for (const file of [daemonFile, cliToken, reserve, socket, ...logs.map((name) => join(logsDir, name))])
      putAside(file, 'file', onAside)
  }
  for (const folder of [runDir, logsDir, databaseDir, objects, join(objects, 'tmp'), indexes])
    checkPlace(folder, 'folder')
  for (const file of [version, lock, daemonFile, cliToken, config, reserve]) checkPlace(file, 'file')
  for (const key of [signingKey, dataKey]) refuseForeign(key, lstatIfExists(key), 'file')
  for (const name of namesIn(databaseDir)) checkPlace(join(databaseDir, name), 'file')
  for (const name of namesIn(logsDir)) {
    const path = join(logsDir, name)
    checkPlace(path, !LOG_NAME.test(name) && lstatIfExists(path)?.isDirectory() === true ? 'folder' : 'file')
  }
}

/** Renames a path of the wrong kind whose content can be derived again. Links are left to the checks. */
function putAside(path: string, kind: 'folder' | 'file', onAside: OnAside): void {
  const found = lstatIfExists(path)
  if (found === undefined || found.isSymbolicLink() || found.isDirectory() === (kind === 'folder')) return
  const aside = `${path}.aside-${Date.now()}`
  try {
    renameSync(path, aside)
  } catch (cause) {
    if (isCode(cause, 'ENOENT')) return // another starting daemon renamed it
    throw new KsError('unavailable', `${path} must be a ${kind}, and what is there cannot be renamed`, { cause })
  }
  onAside(path, aside)
}

function checkPlace(path: string, kind: 'folder' | 'file'): void {
  const found = lstatIfExists(path)
  refuseForeign(path, found, kind)
  if (found !== undefined) mend(path, found, kind === 'folder' ? FOLDER_MODE : FILE_MODE)
}

function refuseForeign(path: string, found: Stats | undefined, kind: 'folder' | 'file'): void {
  if (found === undefined) return
  if (found.isSymbolicLink()) throw new KsError('unavailable', `${path} must be a ${kind}, it is a link`)
  if (kind === 'folder' ? !found.isDirectory() : !found.isFile())
    throw new KsError('unavailable', `${path} must be a ${kind}, it is something else`)
  const user = process.getuid?.()
  if (user !== undefined && user !== 0 && found.uid !== user)
    throw new KsError('unavailable', `${path} must belong to the user of the daemon, it belongs to user ${found.uid}`)
}

function mend(path: string, found: Stats, mode: number): void {
  if ((found.mode & OTHERS) === 0) return
  try {
    chmodSync(path, found.mode & mode)
  } catch (cause) {
    throw new KsError('unavailable', `${path} must be readable by its owner only, and its mode cannot be changed`, {
      cause,
    })
  }
}

function lstatIfExists(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false })
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if (isCode(error, 'ENOENT')) return []
    throw error
  }
}
