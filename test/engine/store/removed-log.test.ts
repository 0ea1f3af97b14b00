import { cpSync, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { afterAll, expect, test } from 'vitest'
import { removeFolder } from '../../../bench/lib/removed-folder.js'
import { type Engine, openEngine } from '../../../src/engine/index.js'
import { resolveDataLayout } from '../../../src/local/layout.js'
import { ADA, engineOptions } from '../../helpers/engine.js'
import { allCandidates, allIssues, spaceWith } from '../upkeep/integrity/space.js'

const KEPT = 3
const LATER = 4

const root = mkdtempSync(join(tmpdir(), 'ks-removed-log-'))
afterAll(() => removeFolder(root))

/** A data directory of a killed daemon: some documents in the database file, later ones in its log only. */
async function killed(): Promise<{ dataDir: string; id: string }> {
  const live = join(root, 'live')
  const first = await openEngine(engineOptions(live))
  const { id } = await spaceWith(first, 'kept', KEPT)
  await first.close()
  const second = await openEngine(engineOptions(live))
  const reader = new Sqlite(resolveDataLayout(live).database, { readonly: true })
  reader.exec('BEGIN')
  reader.prepare('SELECT count(*) FROM documents').get() // Prevents checkpoints of the log.
  await spaceWith(second, 'later', LATER)
  const dataDir = join(root, 'killed')
  cpSync(live, dataDir, { recursive: true, filter: (path) => !path.endsWith('.sock') })
  reader.exec('COMMIT')
  reader.close()
  await second.close()
  expect(statSync(`${resolveDataLayout(dataDir).database}-wal`).size).toBeGreaterThan(0)
  return { dataDir, id }
}

async function started(dataDir: string): Promise<{ engine: Engine; warnings: string[] }> {
  const warnings: string[] = []
  const log = { debug() {}, info() {}, warn: (_: unknown, message: string) => warnings.push(message), error() {} }
  const later = () => Date.now() + 24 * 60 * 60 * 1000
  return { engine: await openEngine(engineOptions(dataDir, { log, now: later })), warnings }
}

test('F33: a database without its log opens only after an override, and keeps objects of lost documents', async () => {
  const { dataDir, id } = await killed()
  const twin = join(root, 'twin')
  cpSync(dataDir, twin, { recursive: true })
  const { database, keepUnknown, storeFile } = resolveDataLayout(dataDir)
  rmSync(`${database}-wal`)
  rmSync(`${database}-shm`, { force: true })

  await expect(started(dataDir)).rejects.toThrow(`${database}-wal is missing`)
  rmSync(storeFile)

  const { engine, warnings } = await started(dataDir)
  try {
    expect(warnings.join('\n')).toContain(`${storeFile} is missing`)
    expect(existsSync(keepUnknown)).toBe(true)
    const { items } = await engine.documents.list(ADA, id, { limit: 100 })
    expect(items).toHaveLength(KEPT)
    const unknown = (await allIssues(engine, id)).filter(({ code }) => code === 'unknown-object')
    expect(unknown).toHaveLength(LATER)
    expect(await allCandidates(engine, id)).toEqual([])
  } finally {
    await engine.close()
  }

  // Its shared memory is rebuilt from the log: nothing is lost.
  rmSync(`${resolveDataLayout(twin).database}-shm`, { force: true })
  const again = await started(twin)
  try {
    expect(again.warnings).toEqual([])
    const spaces = await again.engine.spaces.list(ADA, { limit: 10 })
    const counts = await Promise.all(
      spaces.items.map(
        async (space) => (await again.engine.documents.list(ADA, space.id, { limit: 100 })).items.length,
      ),
    )
    expect(counts.sort()).toEqual([KEPT, LATER])
  } finally {
    await again.engine.close()
  }
  process.stdout.write(
    `FIGURE wal-file-removed: objects named ${LATER} of ${LATER}, removed 0; without the shared memory lost 0\n`,
  )
})
