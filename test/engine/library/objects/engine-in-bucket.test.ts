import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { execa } from 'execa'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { openEngine } from '../../../../src/engine/index.js'
import { ObjectStore } from '../../../../src/engine/store/objects.js'
import { rowsOf } from '../../../helpers/databases.js'
import { ADA, ask, engineOptions, ingest, startEngine, type TestEngine, uploadOne } from '../../../helpers/engine.js'
import { type StrictS3, startStrictS3 } from '../../../helpers/places/strict-s3.js'
import { until } from '../../../helpers/until.js'
import { withKeys } from '../../store/object-places.js'

let server: StrictS3
let test: TestEngine
let spaceId: string
beforeEach(async () => {
  server = await startStrictS3()
  withKeys(server.env)
  test = await startEngine({ objects: server.place })
  spaceId = (await test.engine.spaces.create(ADA, { name: 'Shop', slug: 'shop' })).id
})
afterEach(async () => {
  server.fault = () => undefined
  await test.end()
  await server.end()
  vi.unstubAllEnvs()
})

const objects = () => [...server.objects.keys()].filter((key) => key.includes('/sha256/'))
const HOURS = { 'hours.md': '# Hours\n\nThe shop in Oslo opens at nine.\n' }
const QUESTION = 'When does the shop in Oslo open?'

describe('an engine with its objects in a bucket', () => {
  it('stores documents, answers from them, checks and removes them', async () => {
    const [accepted] = await ingest(test.engine, ADA, spaceId, HOURS)
    expect(objects()).toHaveLength(1)
    expect((await ask(test.engine, ADA, spaceId, QUESTION)).answer).toContain('nine')
    const names = readdirSync(join(test.dataDir, 'objects'))
    expect(names.sort()).toEqual(['cache', 'elsewhere', 'store.json', 'tmp'])
    const check = async () =>
      (await test.engine.integrity.fsck(ADA, spaceId, { check: 'raw-objects', deep: false })).issues
    expect(await check()).toEqual([])
    await test.reopen()
    expect((await ask(test.engine, ADA, spaceId, QUESTION)).answer).toContain('nine')
    server.objects.delete(objects()[0] ?? '')
    expect(await check()).toMatchObject([{ code: 'raw-object-missing' }])
    await ingest(test.engine, ADA, spaceId, HOURS)
    expect(await check()).toEqual([])
    await test.engine.documents.delete(ADA, spaceId, [accepted?.asset.id ?? ''])
    await until(() => objects().length === 0)
  })

  it('answers queries while the bucket is unavailable; uploads fail until it is back', {
    timeout: 60_000,
  }, async () => {
    await ingest(test.engine, ADA, spaceId, HOURS)
    // A process that did not receive the bytes downloads them again.
    server.fault = ({ method }) => (method === 'GET' ? { status: 503 } : undefined)
    await test.reopen().catch(() => undefined)
    const upload = () =>
      uploadOne(test.engine, ADA, spaceId, { filename: 'b.md', text: 'The shop in Rome opens at ten.' })
    server.fault = () => ({ status: 503 })
    await expect(upload()).rejects.toMatchObject({ code: 'unavailable', retryAfter: 5 })
    expect((await ask(test.engine, ADA, spaceId, QUESTION)).answer).toContain('nine')
    await expect(test.engine.integrity.fsck(ADA, spaceId, { check: 'raw-objects', deep: false })).rejects.toMatchObject(
      {
        code: 'unavailable',
      },
    )
    server.fault = () => undefined
    const accepted = await upload()
    await test.engine.documents.settled(ADA, spaceId, accepted)
    expect((await ask(test.engine, ADA, spaceId, 'When does the shop in Rome open?')).answer).toContain('ten')
  })

  it('does not open without its bucket or with the bucket of another store', async () => {
    await ingest(test.engine, ADA, spaceId, HOURS)
    await test.engine.close()
    const rows = () => rowsOf(test.dataDir).all('SELECT id, opened FROM store')
    const before = rows()
    await expect(openEngine(engineOptions(test.dataDir))).rejects.toMatchObject({
      name: 'StoreRefused',
      message: expect.stringContaining('s3://objects/ks/'),
    })
    expect(rows()).toEqual(before)
    const typo = { ...server.place, prefix: 'sk/' }
    await expect(openEngine(engineOptions(test.dataDir, { objects: typo }))).rejects.toThrow(/contains none/)
    test.engine = await openEngine(engineOptions(test.dataDir, { objects: server.place }))
    expect((await ask(test.engine, ADA, spaceId, QUESTION)).answer).toContain('nine')
  })

  it('collects unreferenced objects of its own store only', async () => {
    await ingest(test.engine, ADA, spaceId, HOURS)
    const bytes = Buffer.from('nobody names this')
    const old = { bytes, etag: '""', sha256: undefined, modified: new Date(Date.now() - 2 * 3_600_000) }
    const key = ObjectStore.key(ADA.tenant, createHash('sha256').update(bytes).digest('hex'))
    const others = ['other/x', `other/${key}`, 'ks/a note', `ks/${ObjectStore.prefix(ADA.tenant)}a note`]
    for (const one of [`ks/${key}`, ...others]) server.objects.set(one, old)
    const { candidates } = await test.engine.integrity.gcDryRun(ADA, spaceId, {})
    expect(candidates).toMatchObject([{ target: { objectKey: key } }])
    expect(await test.engine.integrity.gcExecute(ADA, spaceId, candidates)).toMatchObject({ deleted: 1, skipped: 0 })
    expect(server.objects.has(`ks/${key}`)).toBe(false)
    expect(others.filter((one) => !server.objects.has(one))).toEqual([])
    expect((await ask(test.engine, ADA, spaceId, QUESTION)).answer).toContain('nine')
  })

  it('uses objects that were copied from a data directory with their keys', async () => {
    const local = await startEngine()
    const { id } = await local.engine.spaces.create(ADA, { name: 'Shop', slug: 'shop' })
    await ingest(local.engine, ADA, id, HOURS)
    await local.engine.close()
    const place = { ...server.place, prefix: 'moved/' }
    const root = join(local.dataDir, 'objects')
    for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name)
      if (!entry.isFile() || !path.includes('sha256')) continue
      const bytes = readFileSync(path)
      const key = place.prefix + path.slice(root.length + 1)
      server.objects.set(key, { bytes, etag: '""', sha256: undefined, modified: new Date() })
    }
    local.engine = await openEngine(engineOptions(local.dataDir, { objects: place }))
    expect((await local.engine.integrity.fsck(ADA, id, { check: 'raw-objects', deep: false })).issues).toEqual([])
    await local.end()
  })
})

it('an engine with local objects never loads the S3 client', async () => {
  const program = `
    import { createRequire } from 'node:module'
    import { openEngine } from ${JSON.stringify(new URL('../../../../dist/engine/index.js', import.meta.url).href)}
    const noop = () => {}
    const engine = await openEngine({ ...JSON.parse(process.argv[2]), log: { debug: noop, info: noop, warn: noop, error: noop } })
    await engine.close()
    const loaded = Object.keys(createRequire(import.meta.url).cache)
    console.log(JSON.stringify({ some: loaded.length > 0, s3: loaded.filter((path) => /@aws-sdk|@smithy/.test(path)) }))`
  await test.engine.close()
  const dataDir = join(test.dataDir, 'embedded')
  writeFileSync(join(test.dataDir, 'program.mjs'), program)
  const { stdout } = await execa(process.execPath, [
    join(test.dataDir, 'program.mjs'),
    JSON.stringify(engineOptions(dataDir, { database: undefined })),
  ])
  expect(JSON.parse(stdout)).toEqual({ some: true, s3: [] })
  await test.reopen()
})
