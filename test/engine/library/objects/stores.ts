import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { removeFolder } from '../../../../bench/lib/removed-folder.js'
import { storeObjects } from '../../../../src/engine/library/objects/receive.js'
import { type RemovalContext, removeUnreferenced } from '../../../../src/engine/library/objects/remove.js'
import { Database } from '../../../../src/engine/store/database.js'
import { FileObjects } from '../../../../src/engine/store/object-files.js'
import { ObjectStore } from '../../../../src/engine/store/objects.js'
import { sql } from '../../../../src/engine/store/program.js'
import { type ChatFileRow, insertFile, markFileReady } from '../../../../src/engine/store/rows/chat/files.js'
import { markUnreferenced } from '../../../../src/engine/store/rows/objects.js'
import { newId } from '../../../../src/lib/ids.js'
import type { StrictS3 } from '../../../helpers/places/strict-s3.js'
import { openBucket } from '../../store/object-places.js'

export const TENANT = 'tenant'

export function shaOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}

export function keyOf(bytes: Buffer): string {
  return ObjectStore.key(TENANT, shaOf(bytes))
}

/** Times that a test can wait for. */
const PATIENCE = {
  connectMs: 1000,
  idleMs: 1000,
  requestMs: 2000,
  minBytesPerSecond: 1e6,
  attempts: 4,
  backoff: { baseMs: 5, capMs: 20 },
}

/** One database and one object store for any number of gateways: a folder or an S3 server. */
/** the clock, also of fake timers */
const now = () => Date.now()

export function temporaryStore(server?: StrictS3) {
  const root = mkdtempSync(join(tmpdir(), 'ks-agreed-'))
  const open: Gateway[] = []
  return {
    root,
    /** The path of an object file. */
    pathOf: (bytes: Buffer) => join(root, 'objects', keyOf(bytes)),
    async gateway(): Promise<Gateway> {
      // Each gateway has a separate cache.
      const folder = join(root, server === undefined ? 'objects' : `objects-${open.length}`)
      mkdirSync(folder, { recursive: true })
      const gateway = new Gateway({
        instance: newId(),
        db: new Database(join(root, 'main.sqlite'), now),
        now,
        objects: await (server === undefined
          ? FileObjects.open(folder)
          : openBucket(folder, server.place, { timeouts: PATIENCE })),
        log: { debug() {}, info() {}, warn() {}, error() {} },
      })
      open.push(gateway)
      return gateway
    },
    /** Names of all files below the objects, including temporary ones; for a server, those of its objects. */
    files: () =>
      server !== undefined
        ? [...server.objects.keys()].filter((key) => key.includes('/sha256/')).map((key) => key.slice(-64))
        : readdirSync(join(root, 'objects'), { recursive: true, withFileTypes: true })
            .filter((entry) => entry.isFile())
            .map((entry) => entry.name),
    async end() {
      for (const gateway of open) {
        gateway.context.objects.close()
        await gateway.context.db.close()
      }
      removeFolder(root)
    },
  }
}

/** The object operations of one process; chat files represent all rows that reference objects. */
export class Gateway {
  constructor(readonly context: RemovalContext) {}

  /**
   * Receives bytes and references them.
   * @param isUnreferenced the row comes with the commit, as for a workspace file; otherwise the row exists before
   */
  async upload(bytes: Buffer, isLoose: boolean): Promise<string> {
    const { db, objects } = this.context
    const id = newId()
    const key = keyOf(bytes)
    const staged = await objects.stage(newId(), Readable.from([bytes]), 1 << 30, 'a')
    const insert = () => insertFile(rowOf(id, bytes), 1)
    await storeObjects(this.context, {
      tenant: TENANT,
      incoming: [{ staged, key }],
      ...(isLoose ? { isUnreferenced: isLoose } : {}),
      *begin() {
        if (!isLoose) yield* insert()
      },
      commit: (held) =>
        db.write(function* () {
          yield* held()
          if (isLoose) yield* insert()
          yield* markFileReady({ tenant: TENANT, id }, 1)
        }),
    })
    return id
  }

  /** Removes the row, and the bytes when no other row references them. */
  async remove(id: string, bytes: Buffer): Promise<ReadonlySet<string>> {
    await this.context.db.write(function* () {
      yield* sql.run('DELETE FROM chat_files WHERE id = ?', [id])
      yield* markUnreferenced(TENANT, [keyOf(bytes)])
    })
    return removeUnreferenced(this.context, TENANT, [keyOf(bytes)])
  }

  rows(): Promise<{ id: string; object_key: string; ready: number }[]> {
    return this.context.db.read(sql.all('SELECT id, object_key, ready FROM chat_files'))
  }

  objectRows(): Promise<{ sha256: string; state: string; loose_since: number | null }[]> {
    return this.context.db.read(sql.all('SELECT sha256, state, loose_since FROM objects'))
  }

  /** Keys of objects of finished uploads that are missing or damaged. */
  async missing(): Promise<string[]> {
    const missing: string[] = []
    for (const { id, object_key: key, ready } of await this.rows()) {
      if (ready === 0) continue
      const read = await this.context.objects.measure(key).catch(() => undefined)
      if (read?.sha256 === key.slice(-64)) continue
      // It may have been deleted during the read.
      if ((await this.rows()).some((row) => row.id === id)) missing.push(key)
    }
    return missing
  }
}

/** A chat file that references bytes. */
export function rowOf(id: string, bytes: Buffer): ChatFileRow {
  return {
    id,
    tenant: TENANT,
    app_id: 'app',
    end_user_id: 'user',
    name: 'a.png',
    extension: 'png',
    mime_type: 'image/png',
    size_bytes: bytes.length,
    sha256: shaOf(bytes),
    object_key: keyOf(bytes),
    created_at: Date.now(),
  }
}
