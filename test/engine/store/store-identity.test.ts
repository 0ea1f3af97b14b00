import { createHash } from 'node:crypto'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import { removeFolder } from '../../../bench/lib/removed-folder.js'
import { type Engine, type EngineOptions, openEngine } from '../../../src/engine/index.js'
import { Checkpointer } from '../../../src/engine/store/checkpointer.js'
import { resolveDataLayout } from '../../../src/local/layout.js'
import { StoreDamagedError } from '../../../src/local/store-damaged-error.js'
import { ADA, engineOptions } from '../../helpers/engine.js'
import { allCandidates, allIssues, spaceWith, sql } from '../upkeep/integrity/space.js'

const folders: string[] = []
const engines: Engine[] = []
const HOURS_AGO = new Date(Date.now() - 3 * 60 * 60 * 1000)

afterEach(async () => {
  vi.restoreAllMocks()
  for (const engine of engines.splice(0)) await engine.close()
  for (const folder of folders.splice(0)) removeFolder(folder)
})

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'ks-store-'))
  folders.push(made)
  return made
}

async function open(dataDir: string, changes: Partial<EngineOptions> = {}): Promise<Engine> {
  const engine = await openEngine(engineOptions(dataDir, changes))
  engines.push(engine)
  return engine
}

async function close(engine: Engine): Promise<void> {
  engines.splice(engines.indexOf(engine), 1)
  await engine.close()
}

/** A data directory with a space of two documents, closed cleanly. */
async function filled(slug = 'kept'): Promise<{ dataDir: string; id: string }> {
  const dataDir = folder()
  const engine = await open(dataDir)
  const { id } = await spaceWith(engine, slug, 2)
  await close(engine)
  return { dataDir, id }
}

const database = (dataDir: string) => join(dataDir, 'db', 'main.sqlite')

/** Every file below a directory with its hash; the lock of the owner and the log are no part of the store. */
function bytesBelow(dataDir: string): Record<string, string> {
  const found: Record<string, string> = {}
  for (const part of ['db', 'objects', 'indexes'])
    for (const entry of readdirSync(join(dataDir, part), { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue
      const path = join(entry.parentPath, entry.name)
      found[path] = createHash('sha256').update(readFileSync(path)).digest('hex')
    }
  return found
}

/** The error of a rejected start; every byte stays unchanged. */
async function refusal(dataDir: string): Promise<string> {
  const before = bytesBelow(dataDir)
  const error: unknown = await open(dataDir).then(
    () => undefined,
    (refused: unknown) => refused,
  )
  expect(error).toBeInstanceOf(StoreDamagedError)
  expect(bytesBelow(dataDir)).toMatchObject(before)
  const { message } = error as StoreDamagedError
  expect(message).toContain(database(dataDir))
  expect(message).toContain('backup')
  expect(message).toContain('start again')
  return message
}

test('a missing database is not replaced by an empty database while files of a store exist', async () => {
  const { dataDir } = await filled()
  rmSync(database(dataDir))
  expect(await refusal(dataDir)).toContain('is missing')
  rmSync(resolveDataLayout(dataDir).storeFile)
  expect(await refusal(dataDir), 'the objects alone show it').toContain('is missing')
  for (const name of readdirSync(join(dataDir, 'objects'))) rmSync(join(dataDir, 'objects', name), { recursive: true })
  expect(await refusal(dataDir), 'the indexes alone show it').toContain('is missing')
  rmSync(join(dataDir, 'indexes'), { recursive: true })
  await open(dataDir)
})

test('F27: a database that is truncated or has no header is rejected with its path, and keeps its bytes', async () => {
  const { dataDir } = await filled()
  const whole = readFileSync(database(dataDir))
  const page = whole.readUInt16BE(16)
  const pages = whole.length / page
  expect(Number.isInteger(pages)).toBe(true)
  const cuts = new Set([0, 1, 15, 16, 99, 100, 511, 512, page - 1, whole.length - 1, whole.length - page / 2])
  for (const at of [1, 2, Math.floor(pages / 2), pages - 1]) for (const near of [0, -1, 100]) cuts.add(at * page + near)
  for (const cut of cuts) {
    writeFileSync(database(dataDir), whole)
    truncateSync(database(dataDir), cut)
    expect(await refusal(dataDir), `cut at ${cut}`).toMatch(
      cut === 0 ? /is empty/ : /is damaged: it (is truncated|has)/,
    )
  }
  const headless = Buffer.from(whole)
  headless.fill(0, 0, 100)
  writeFileSync(database(dataDir), headless)
  expect(await refusal(dataDir)).toContain('does not begin like a database')
  const pageless = Buffer.from(whole)
  pageless.fill(0, 0, page)
  writeFileSync(database(dataDir), pageless)
  await refusal(dataDir)
  const schemaless = Buffer.from(whole)
  schemaless.fill(0xee, 100, page)
  writeFileSync(database(dataDir), schemaless)
  expect(await refusal(dataDir), 'what SQLite finds is told the same way').toContain('is damaged')
  writeFileSync(database(dataDir), whole)
  await open(dataDir)
})

test('an empty database of another program is rejected when objects exist', async () => {
  const { dataDir } = await filled()
  rmSync(database(dataDir))
  sql(dataDir, (db) => db.exec('VACUUM'))
  expect(statSync(database(dataDir)).size).toBeGreaterThanOrEqual(0)
  await refusal(dataDir)
  rmSync(database(dataDir))
  sql(dataDir, (db) => db.exec('CREATE TABLE notes (text); DROP TABLE notes'))
  expect(await refusal(dataDir)).toContain('contains no tables')
})

test('a database of another store is rejected at the start', async () => {
  const [mine, other] = [await filled('mine'), await filled('other')]
  cpSync(database(other.dataDir), database(mine.dataDir))
  expect(await refusal(mine.dataDir)).toContain('of store')
})

test('a clean end of the engine is recorded after the checkpoint thread has released the log', async () => {
  const dataDir = folder()
  const engine = await open(dataDir)
  await spaceWith(engine, 'ended', 1)
  const letGo = vi.spyOn(Checkpointer.prototype, 'close')
  await close(engine)
  expect(letGo).toHaveBeenCalled()
  expect(existsSync(`${database(dataDir)}-wal`)).toBe(false)
  expect(JSON.parse(readFileSync(resolveDataLayout(dataDir).storeFile, 'utf8'))).toMatchObject({ closed: true })
})

test('leftovers of an interrupted first start do not count as a store', async () => {
  const dataDir = folder()
  mkdirSync(join(dataDir, 'db'))
  mkdirSync(join(dataDir, 'objects'))
  writeFileSync(database(dataDir), '')
  await open(dataDir)
})

test('objects unknown to an older copy of the database are reported and never collected', async () => {
  const { dataDir, id } = await filled()
  const copy = readFileSync(database(dataDir))
  const later = await open(dataDir)
  const { id: lost } = await spaceWith(later, 'later', 3)
  await close(later)
  writeFileSync(database(dataDir), copy)

  const warnings: string[] = []
  const log = { debug() {}, info() {}, warn: (_: unknown, message: string) => warnings.push(message), error() {} }
  const engine = await open(dataDir, { log, now: () => Date.now() + 24 * 60 * 60 * 1000 })
  expect(warnings.join()).toContain('older than the objects')
  const unknown = (await allIssues(engine, id)).filter(({ code }) => code === 'unknown-object')
  expect(unknown).toHaveLength(3)
  expect(unknown[0]).toMatchObject({ severity: 'warning', repairability: 'not-repairable' })
  expect(unknown[0]?.message).toContain(resolveDataLayout(dataDir).keepUnknown)
  expect(await allCandidates(engine, id)).toEqual([])
  const forged = unknown.map(({ target }) => ({
    candidateType: 'staged-object' as const,
    count: 1,
    estimatedBytes: 1,
    idempotencyKey: `gc-${target.objectKey}`.slice(0, 64),
    reason: 'asked for all the same',
    target,
  }))
  expect(await engine.integrity.gcExecute(ADA, id, forged)).toMatchObject({ deleted: 0 })
  expect((await allIssues(engine, id)).filter(({ code }) => code === 'unknown-object')).toHaveLength(3)

  // A person who does not need them removes the file.
  rmSync(resolveDataLayout(dataDir).keepUnknown)
  expect(await allCandidates(engine, id)).toHaveLength(3)
  expect(lost).not.toBe(id)
})

test('no object is collected while the store file of the objects is missing or replaced', async () => {
  const { dataDir, id } = await filled()
  const { objects, storeFile } = resolveDataLayout(dataDir)
  const [tenant] = readdirSync(objects).filter((name) => /^[0-9a-f]{24}$/.test(name))
  const orphan = join(objects, tenant ?? '', 'sha256', 'ab', `ab${'0'.repeat(62)}`)
  mkdirSync(join(orphan, '..'), { recursive: true })
  writeFileSync(orphan, 'left behind')
  utimesSync(orphan, HOURS_AGO, HOURS_AGO)
  const engine = await open(dataDir)
  const candidates = await allCandidates(engine, id)
  expect(candidates).toHaveLength(1)
  const told = readFileSync(storeFile, 'utf8')
  for (const text of [undefined, told.replace(/"store":"[^"]+"/, '"store":"another"')]) {
    rmSync(storeFile, { force: true })
    if (text !== undefined) writeFileSync(storeFile, text)
    expect(await allCandidates(engine, id)).toEqual([])
    expect(await engine.integrity.gcExecute(ADA, id, candidates)).toMatchObject({ deleted: 0 })
  }
  writeFileSync(storeFile, told)
  chmodSync(storeFile, 0o600)
  expect(await engine.integrity.gcExecute(ADA, id, candidates)).toMatchObject({ deleted: 1 })
})
