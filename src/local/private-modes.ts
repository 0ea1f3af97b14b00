import { chmodSync, lstatSync, renameSync, type Stats, statSync } from 'node:fs'
import { join } from 'node:path'
import { KsError } from '../contract/errors.js'
import { listNames } from './file-system.js'
import type { DataLayout } from './layout.js'
import { hasErrorCode } from './private-file.js'

/** Permissions of users other than the owner. */
const OTHERS_MASK = 0o077
const FOLDER_MODE = 0o700
const FILE_MODE = 0o600

const LOG_NAME = /^daemon\.log(?:\.\d+)?$/

/** Called with a path that was renamed because a file was in the place of a folder, or the reverse. */
export type OnRenamedAside = (path: string, aside: string) => void

/**
 * Restricts everything in a data directory to its owner: folders and files that others may read or write are changed.
 * Keys that others could read are left to the code that loads them: they may be known already.
 *
 * @param onRenamed where given, a folder at the path of a derived file, or a file at that of a derived folder, is renamed
 * @throws KsError `unavailable` where a path is a link, another user's, or of another kind
 */
export function makePrivate(layout: DataLayout, onRenamed?: OnRenamedAside): void {
  if (process.platform === 'win32') return // modes mean nothing on Windows
  // The directory itself may be a link: the user who starts the daemon chooses it.
  restrictMode(layout.root, statSync(layout.root), FOLDER_MODE)
  const { runDir, logsDir, databaseDir, objects, indexes } = layout
  const { version, lock, daemonFile, cliToken, config, reserve, signingKey, dataKey, socket } = layout
  if (onRenamed !== undefined) {
    for (const folder of [runDir, logsDir, indexes]) renameAside(folder, 'folder', onRenamed)
    const logs = listNames(logsDir).filter((name) => LOG_NAME.test(name))
    for (const file of [daemonFile, cliToken, reserve, socket, ...logs.map((name) => join(logsDir, name))])
      renameAside(file, 'file', onRenamed)
  }
  for (const folder of [runDir, logsDir, databaseDir, objects, join(objects, 'tmp'), indexes])
    checkPath(folder, 'folder')
  for (const file of [version, lock, daemonFile, cliToken, config, reserve]) checkPath(file, 'file')
  for (const key of [signingKey, dataKey]) assertOwnPath(key, lstatIfExists(key), 'file')
  for (const name of listNames(databaseDir)) checkPath(join(databaseDir, name), 'file')
  for (const name of listNames(logsDir)) {
    const path = join(logsDir, name)
    checkPath(path, !LOG_NAME.test(name) && lstatIfExists(path)?.isDirectory() === true ? 'folder' : 'file')
  }
}

/** Renames a path of the wrong kind whose content can be derived again. Links are left to the checks. */
function renameAside(path: string, kind: 'folder' | 'file', onRenamed: OnRenamedAside): void {
  const stats = lstatIfExists(path)
  if (stats === undefined || stats.isSymbolicLink() || stats.isDirectory() === (kind === 'folder')) return
  const aside = `${path}.aside-${Date.now()}`
  try {
    renameSync(path, aside)
  } catch (cause) {
    if (hasErrorCode(cause, 'ENOENT')) return // another starting daemon renamed it
    throw new KsError('unavailable', `${path} must be a ${kind}, and what is there cannot be renamed`, { cause })
  }
  onRenamed(path, aside)
}

function checkPath(path: string, kind: 'folder' | 'file'): void {
  const stats = lstatIfExists(path)
  assertOwnPath(path, stats, kind)
  if (stats !== undefined) restrictMode(path, stats, kind === 'folder' ? FOLDER_MODE : FILE_MODE)
}

function assertOwnPath(path: string, stats: Stats | undefined, kind: 'folder' | 'file'): void {
  if (stats === undefined) return
  if (stats.isSymbolicLink()) throw new KsError('unavailable', `${path} must be a ${kind}, it is a link`)
  if (kind === 'folder' ? !stats.isDirectory() : !stats.isFile())
    throw new KsError('unavailable', `${path} must be a ${kind}, it is something else`)
  const user = process.getuid?.()
  if (user !== undefined && user !== 0 && stats.uid !== user)
    throw new KsError('unavailable', `${path} must belong to the user of the daemon, it belongs to user ${stats.uid}`)
}

function restrictMode(path: string, stats: Stats, mode: number): void {
  if ((stats.mode & OTHERS_MASK) === 0) return
  try {
    chmodSync(path, stats.mode & mode)
  } catch (cause) {
    throw new KsError('unavailable', `${path} must be readable by its owner only, and its mode cannot be changed`, {
      cause,
    })
  }
}

function lstatIfExists(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false })
}
