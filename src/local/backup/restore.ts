import { existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { KsError } from '../../contract/errors.js'
import { syncPath } from '../file-system.js'
import { type DataLayout, resolveDataLayout } from '../layout.js'
import { writePrivateFile } from '../private-file.js'
import {
  copyFile,
  forEachConcurrently,
  getKeyHash,
  isManifest,
  listFoldersBelow,
  measureFile,
  type SnapshotManifest,
  syncFolders,
} from './files.js'
import { findLivingHolder } from './holder.js'
import { listSettingFiles } from './take.js'

const MAX_CONCURRENT_COPIES = 8

export interface RestoreOptions {
  backupFolder: string
  /** default: the newest one */
  snapshot?: string | undefined
  /** the data directory: missing or empty */
  dataDir: string
  onProgress(done: number, total: number): void
}

/**
 * Restores a snapshot into an empty data directory, which no daemon opens until it is complete. All files are read and
 * compared with the manifest. An interrupted restore starts again from the beginning.
 *
 * @throws KsError `not-found` without a complete snapshot, `path-taken` where the directory is not empty, `unavailable`
 * where the backup is damaged, or another process restores into the directory
 */
export async function restoreBackup(
  options: RestoreOptions,
): Promise<{ snapshot: string; manifest: SnapshotManifest }> {
  const { backupFolder, dataDir, onProgress } = options
  const snapshot = selectSnapshot(options)
  const snapshotFolder = join(backupFolder, 'snapshots', snapshot)
  const manifest = readManifest(join(snapshotFolder, 'manifest.json'))
  const layout = resolveDataLayout(dataDir)
  checkTarget(layout)
  for (const { name, size, sha256 } of manifest.files) {
    const measured = await measureFile(join(snapshotFolder, name))
    if (measured?.size !== size || measured.sha256 !== sha256) throw createDamagedError(join(snapshotFolder, name))
  }
  for (const { key, size } of manifest.objects)
    if (lstatSync(join(backupFolder, 'objects', key), { throwIfNoEntry: false })?.size !== size)
      throw createDamagedError(join(backupFolder, 'objects', key))
  await beginRestore(layout)
  await mkdir(layout.objects, { recursive: true, mode: 0o700 })
  let done = 0
  await forEachConcurrently(manifest.objects, MAX_CONCURRENT_COPIES, async ({ key }) => {
    const source = join(backupFolder, 'objects', key)
    if ((await copyFile(source, join(layout.objects, key), 0o400, getKeyHash(key))) === undefined)
      throw createDamagedError(source)
    onProgress(++done, manifest.objects.length)
  })
  const { store } = manifest
  if (store !== undefined)
    writePrivateFile(layout.storeFile, `${JSON.stringify({ store: store.id, opened: store.opened, closed: true })}\n`)
  for (const [name, path] of listSettingFiles(layout)) await copyFile(join(snapshotFolder, name), path, 0o600)
  await syncFolders(await listFoldersBelow(layout.objects))
  await copyFile(join(snapshotFolder, 'main.sqlite'), layout.database, 0o600)
  await syncFolders([layout.databaseDir, dataDir, dirname(dataDir)])
  await rm(layout.restoring)
  await syncPath(dataDir)
  return { snapshot, manifest }
}

/** @throws KsError where the directory has other content, or another process restores into it */
function checkTarget({ root, restoring }: DataLayout): void {
  const holder = findLivingHolder(restoring)
  if (holder !== undefined)
    throw new KsError(
      'unavailable',
      `process ${holder} is restoring a backup into ${root}: try again when it has ended`,
    )
  if (!existsSync(restoring) && existsSync(root) && readdirSync(root).length > 0)
    throw new KsError('path-taken', `${root} is not empty: a backup is restored into an empty directory only`)
}

/** Marks the directory as incomplete, and removes the files of an interrupted restore. */
async function beginRestore(layout: DataLayout): Promise<void> {
  await mkdir(layout.root, { recursive: true, mode: 0o700 })
  // Written directly, not renamed: only this file identifies the rest of a restore that is interrupted here.
  await writeFile(layout.restoring, `${process.pid}\n`, { mode: 0o600 })
  await syncPath(layout.root)
  for (const path of [layout.databaseDir, layout.objects, ...listSettingFiles(layout).map(([, file]) => file)])
    await rm(path, { recursive: true, force: true })
}

function selectSnapshot({ backupFolder, snapshot }: RestoreOptions): string {
  const folder = join(backupFolder, 'snapshots')
  const names = existsSync(folder) ? readdirSync(folder).sort() : []
  const complete = names.filter((name) => existsSync(join(folder, name, 'manifest.json')) && !name.endsWith('.partial'))
  if (snapshot !== undefined && !complete.includes(snapshot))
    throw new KsError('not-found', `${backupFolder} holds no complete snapshot ${JSON.stringify(snapshot)}`)
  const newest = snapshot ?? complete.at(-1)
  if (newest === undefined) throw new KsError('not-found', `${backupFolder} holds no complete snapshot`)
  return newest
}

function readManifest(path: string): SnapshotManifest {
  const createUnreadableError = (cause?: unknown) =>
    new KsError('unavailable', `${path} cannot be read as the manifest of a snapshot`, { cause })
  let value: unknown
  try {
    value = JSON.parse(readFileSync(path, 'utf8'))
  } catch (cause) {
    throw createUnreadableError(cause)
  }
  if (!isManifest(value)) throw createUnreadableError()
  return value
}

function createDamagedError(path: string): KsError {
  return new KsError('unavailable', `the backup is damaged: ${path} does not match the manifest; try another snapshot`)
}
