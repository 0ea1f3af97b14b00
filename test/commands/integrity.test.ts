import { mkdirSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ObjectStore } from '../../src/engine/store/objects.js'
import { sql } from '../engine/upkeep/integrity/space.js'
import { cliHome } from '../helpers/cli.js'

const home = cliHome()
afterAll(() => home.end())

beforeAll(async () => {
  home.file('notes/a.md', '# Tides\n\nThe moon pulls the sea.\n')
  home.file('notes/b.md', '# Winds\n\nAir moves from high to low pressure.\n')
  const ingested = await home.ks(['ingest', 'notes', '-s', 'sea', '--create', '--wait'])
  expect(ingested, ingested.stderr).toMatchObject({ code: 0 })
})

it('ks fsck reports a healthy space with exit 0', async () => {
  const run = await home.ks(['fsck', 'sea', '--deep'])
  expect(run).toMatchObject({ code: 0, stdout: '' })
  expect(run.stderr).toContain('No issues.')
})

it('ks fsck exits with 10 for an issue of severity error, and with --fail-on critical with 0', async () => {
  sql(home.dataDir, (db) => db.exec("UPDATE versions SET artifact = x'' WHERE key = 1"))
  const run = await home.ks(['fsck', 'sea', '--check', 'artifact-segments', '--json'])
  expect(run.code).toBe(10)
  expect(JSON.parse(run.stdout)).toMatchObject([{ type: 'missing-artifact-object', severity: 'error' }])
  expect(await home.ks(['fsck', 'sea', '--fail-on', 'critical', '--repairable'])).toMatchObject({ code: 0 })
})

it('ks fsck repairs only after confirmation', async () => {
  const asked = await home.ks(['fsck', 'sea', '--repair'])
  expect(asked).toMatchObject({ code: 2 })
  expect(asked.stdout).toContain('would-repair')
  expect(await home.ks(['fsck', 'sea'])).toMatchObject({ code: 10 })
  const done = await home.ks(['fsck', 'sea', '--repair', '--yes'])
  expect(done, done.stderr).toMatchObject({ code: 0 })
  expect(done.stdout).toMatch(/^repaired\t/)
  expect(await home.ks(['fsck', 'sea'])).toMatchObject({ code: 0 })
})

it('ks gc shows what can be collected, and removes it after confirmation', async () => {
  const key = ObjectStore.key('local', `ab${'0'.repeat(62)}`)
  const path = join(home.dataDir, 'objects', key)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, 'left behind')
  utimesSync(path, new Date(0), new Date(0))
  const shown = await home.ks(['gc', 'sea', '--type', 'staged-object'])
  expect(shown).toMatchObject({ code: 0 })
  expect(shown.stdout).toMatch(/^staged-object\t1\t11\t/)
  expect(await home.ks(['gc', 'sea', '--execute'])).toMatchObject({ code: 2 })
  const done = await home.ks(['gc', 'sea', '--execute', '--yes'])
  expect(done).toMatchObject({ code: 0, stdout: `deleted\t${key}\n` })
  expect((await home.ks(['gc', 'sea'])).stderr).toContain('Nothing to collect.')
})

it('ks api lists commits and leases of a space', async () => {
  const { stdout } = await home.ks(['api', 'listStagedCommits', '-s', 'sea', '-f', 'status=published', '--paginate'])
  const commits = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(commits.map(({ operationType }) => operationType)).toEqual(['document-upload', 'document-upload'])
  expect(await home.ks(['api', 'listActiveLeases', '-s', 'sea', '--paginate'])).toMatchObject({ code: 0, stdout: '' })
})
