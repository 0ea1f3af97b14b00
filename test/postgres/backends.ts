import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removeFolder } from '../../bench/lib/removed-folder.js'
import { Database } from '../../src/engine/store/database.js'
import type { Driver } from '../../src/engine/store/driver.js'
import { insertDocuments } from '../../src/engine/store/rows/documents.js'
import { insertSpace } from '../../src/engine/store/rows/space-changes.js'
import { findSpace, type SpaceRow } from '../../src/engine/store/rows/spaces.js'
import { newId } from '../../src/lib/ids.js'
import { createMigratedDatabase, hasServer, openPostgres } from '../helpers/postgres.js'

/** A database with the newest schema, and a driver for it. */
export interface Backend {
  driver: Driver
  /** drivers of other processes, if the backend supports several */
  another(): Promise<Driver>
  close(): Promise<void>
}

async function openSqlite(): Promise<Backend> {
  const folder = mkdtempSync(join(tmpdir(), 'ks-backend-'))
  const driver = new Database(join(folder, 'ks.db'), Date.now)
  return {
    driver,
    another: async () => driver,
    async close() {
      await driver.close()
      removeFolder(folder)
    },
  }
}

async function openServer(): Promise<Backend> {
  const name = await createMigratedDatabase()
  const drivers = [await openPostgres(name)]
  const another = async () => {
    const driver = await openPostgres(name)
    drivers.push(driver)
    return driver
  }
  const [driver] = drivers
  if (driver === undefined) throw new Error('no driver was opened')
  return {
    driver,
    another,
    async close() {
      for (const one of drivers) await one.close()
    },
  }
}

const ALL = { sqlite: openSqlite, pg: openServer }

/** The databases of this run: `KS_TEST_BACKEND`, or all that are available. */
export const BACKENDS = Object.entries(ALL).filter(([name]) => {
  const wanted = process.env.KS_TEST_BACKEND
  return (wanted === undefined || wanted === name) && (name !== 'pg' || hasServer)
})

export const MADE = { sha256: 'a'.repeat(64), object_key: 'o', mime_type: 'text/plain', metadata: {} }

export async function newSpace(driver: Driver, tenant = 'acme'): Promise<SpaceRow> {
  const id = newId()
  const model = { pluginId: 'builtin', provider: 'lsa', model: 'lsa-200' }
  await driver.write(() => insertSpace({ id, tenant, name: id, slug: id, description: undefined, policies: {}, model }))
  return await driver.read(findSpace(tenant, id))
}

export function* newDocument({ key, tenant }: SpaceRow, filename: string, bytes = 7) {
  const [row] = yield* insertDocuments([
    { ...MADE, tenant, id: newId(), space_key: key, source_id: null, filename, size_bytes: bytes },
  ])
  if (row === undefined) throw new Error('no document was inserted')
  return row
}
