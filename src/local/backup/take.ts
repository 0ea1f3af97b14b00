import { existsSync, lstatSync } from 'node:fs'
import { mkdir, readdir, rename, rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { KsError } from '../../contract/errors.js'
import { ignoreMissing, syncPath } from '../file-system.js'
import type { DataLayout } from '../layout.js'
import { readIfExists, writePrivateFile } from '../private-file.js'
import { copyDatabase, readContents } from './database.js'
import {
  copyFile,
  forEachConcurrently,
  getKeyHash,
  listFoldersBelow,
  measureFile,
  type SnapshotManifest,
  syncFolders,
} from './files.js'
import { findLivingHolder } from './holder.js'

/** Shorter than the time after which the daemon ignores a pin that is not renewed. */
const RENEW_INTERVAL_MS = 10_000
/** Files that were not renewed for this long belong to a backup that was killed. */
const ABANDONED_MS = 3_600_000
const MAX_CONCURRENT_COPIES = 8
/** Names of unfinished files: a snapshot, and an object. */
const PARTIAL_SNAPSHOT = /^\d{8}T\d{6}-\d{3}Z\.partial$/
const PARTIAL_OBJECT = /[0-9a-f]{64}\.\d+\.tmp$/

export interface BackupResult {
  /** name of the snapshot in the backup */
  snapshot: string
  manifest: SnapshotManifest
  /** number of objects that an earlier snapshot had copied */
  reusedObjectCount: number
  /** bytes that this snapshot has added to the folder */
  addedBytes: number
}

export interface TakeBackupOptions {
  layout: DataLayout
  /** the folder of backups; created when missing */
  folder: string
  version: string
  now: Date
  onProgress(done: number, total: number): void
}

/**
 * Takes a snapshot of a data directory, also while a daemon works on it: first the database at one instant, then the
 * objects that this copy refers to, which the daemon keeps meanwhile, then the manifest. Earlier snapshots in the same
 * folder share their objects with it and do not change. An interrupted snapshot has no final name; a later backup
 * removes its files.
 *
 * @throws KsError `not-found` where there is no database, `invalid-request` where its objects are in a bucket,
 * `unavailable` while another process takes a backup of it
 */
export async function takeBackup(options: TakeBackupOptions): Promise<BackupResult> {
  const { layout, folder, version, now } = options
  if (!existsSync(layout.database))
    throw new KsError('not-found', `there is no database ${layout.database} to take a backup of`)
  const remoteLocation = readIfExists(layout.elsewhere)
  if (remoteLocation !== undefined)
    throw new KsError(
      'invalid-request',
      `the objects of ${layout.root} are in ${remoteLocation.trim()}, and a backup holds those of this machine: keep versions of the bucket, and copy the data directory while no daemon runs`,
    )
  const snapshot = now.toISOString().replace(/[-:]/g, '').replace('.', '-')
  const snapshotFolder = join(folder, 'snapshots', snapshot)
  const partial = `${snapshotFolder}.partial`
  const unpin = await pinObjects(layout, partial)
  try {
    await mkdir(partial, { recursive: true, mode: 0o700 })
    await removeAbandoned(folder, now.getTime())
    const database = join(partial, 'main.sqlite')
    await copyDatabase(layout.database, database)
    const { objects: keys, ...contents } = readContents(database)
    const files: SnapshotManifest['files'] = []
    for (const [name, path] of [['main.sqlite', undefined], ...listSettingFiles(layout)] as const) {
      const copyPath = join(partial, name)
      const measured = path === undefined ? await measureFile(copyPath) : await copyFile(path, copyPath, 0o600)
      if (measured !== undefined) files.push({ name, ...measured })
    }
    const { objects, missing, reusedObjectCount, copiedBytes } = await copyObjects(options, keys)
    await syncFolders(await listFoldersBelow(join(folder, 'objects')))
    const manifest: SnapshotManifest = {
      format: 1,
      createdAt: now.toISOString(),
      version,
      ...contents,
      files,
      objects,
      missing,
    }
    await syncPath(database)
    writePrivateFile(join(partial, 'manifest.json'), `${JSON.stringify(manifest)}\n`)
    await rename(partial, snapshotFolder)
    await syncFolders([join(folder, 'snapshots'), folder])
    const addedBytes = files.reduce((sum, { size }) => sum + size, copiedBytes)
    return { snapshot, manifest, reusedObjectCount, addedBytes }
  } catch (error) {
    await rm(partial, { recursive: true, force: true })
    throw error
  } finally {
    await unpin()
  }
}

/** Settings and keys, which a restored data directory also needs. */
export function listSettingFiles({ config, signingKey, dataKey }: DataLayout): [string, string][] {
  return [
    ['config.json', config],
    ['signing.key', signingKey],
    ['data.key', dataKey],
  ]
}

async function copyObjects({ layout, folder, onProgress }: TakeBackupOptions, keys: string[]) {
  const objects: SnapshotManifest['objects'] = []
  const missing: string[] = []
  let reusedObjectCount = 0
  let copiedBytes = 0
  await mkdir(join(folder, 'objects'), { recursive: true, mode: 0o700 })
  await forEachConcurrently(keys, MAX_CONCURRENT_COPIES, async (key) => {
    const target = join(folder, 'objects', key)
    const size = lstatSync(join(layout.objects, key), { throwIfNoEntry: false })?.size
    const existing = lstatSync(target, { throwIfNoEntry: false })
    if (existing?.isFile() === true && existing.size === size) {
      reusedObjectCount++
      objects.push({ key, size: existing.size })
    } else {
      const copied = await copyFile(join(layout.objects, key), target, 0o400, getKeyHash(key))
      if (copied === undefined) missing.push(key)
      else {
        copiedBytes += copied.size
        objects.push({ key, size: copied.size })
      }
    }
    onProgress(objects.length + missing.length, keys.length)
  })
  return {
    objects: objects.sort((a, b) => (a.key < b.key ? -1 : 1)),
    missing: missing.sort(),
    reusedObjectCount,
    copiedBytes,
  }
}

/**
 * Makes the daemon keep every object, also those of documents that are deleted meanwhile, and prevents other backups of
 * the same directory.
 *
 * @returns a function that ends both
 */
async function pinObjects({ root, pin: path }: DataLayout, partial: string): Promise<() => Promise<void>> {
  const holder = findLivingHolder(path)
  if (holder !== undefined)
    throw new KsError('unavailable', `process ${holder} is taking a backup of ${root}: try again when it has ended`)
  const write = () => writeFile(path, `${process.pid}\n`, { mode: 0o600 })
  const renew = async () => {
    await write()
    const now = new Date()
    await utimes(partial, now, now)
  }
  await write()
  const timer = setInterval(() => void renew().catch(() => {}), RENEW_INTERVAL_MS)
  return async () => {
    clearInterval(timer)
    await rm(path, { force: true })
  }
}

/** Removes the files of killed backups: incomplete snapshots, unnamed objects. */
async function removeAbandoned(folder: string, now: number): Promise<void> {
  const isOld = (path: string) => now - (lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? now) > ABANDONED_MS
  const snapshots = await readdir(join(folder, 'snapshots'))
  const objects = await readdir(join(folder, 'objects'), { recursive: true }).catch(ignoreMissing)
  const leftovers = [
    ...snapshots.filter((name) => PARTIAL_SNAPSHOT.test(name)).map((name) => join(folder, 'snapshots', name)),
    ...(objects ?? []).filter((name) => PARTIAL_OBJECT.test(name)).map((name) => join(folder, 'objects', name)),
  ]
  for (const path of leftovers.filter(isOld)) await rm(path, { recursive: true, force: true })
}
