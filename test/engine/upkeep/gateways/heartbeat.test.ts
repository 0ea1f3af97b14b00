import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { Gateway } from '../../../../src/engine/upkeep/gateways/gateway.js'
import { rowsOf } from '../../../helpers/databases.js'
import { ADA, startEngine, type TestEngine, uploadOne } from '../../../helpers/engine.js'
import { watchStarts } from '../../../helpers/services.js'
import { type Site, startSite } from '../../../helpers/site.js'
import { until } from '../../../helpers/until.js'

vi.mock('../../../../src/engine/base/leases.js', async (load) => ({
  ...(await load<typeof import('../../../../src/engine/base/leases.js')>()),
  // the tests cause each heartbeat
  LEASE_HEARTBEAT_MS: 60 * 60_000,
}))

const TEXT = '# Lighthouse\n\nThe lighthouse of Westerheversand was built in 1908.\n'

const services = watchStarts()
let test: TestEngine
let spaceId: string
let site: Site | undefined

beforeEach(async () => {
  test = await startEngine({ sources: { egressAllow: ['127.0.0.2'] } })
  spaceId = (await test.engine.spaces.create(ADA, { name: 'N', slug: 'n' })).id
})
afterEach(async () => {
  await test.end()
  await site?.end()
  site = undefined
})

const gateways = () => rowsOf(test.dataDir).all('SELECT id, beat_at FROM gateways ORDER BY started_at')
const age = (ms: number, where: string) =>
  rowsOf(test.dataDir).run(`UPDATE gateways SET beat_at = beat_at - ${ms} ${where}`)
const jobs = () => rowsOf(test.dataDir).all('SELECT stage, claimed_by FROM jobs')

/** A job claimed by another live gateway. */
async function jobOfAnother(): Promise<void> {
  await rowsOf(test.dataDir).run(
    `INSERT INTO gateways (id, started_at, beat_at)
     SELECT 'another', started_at + 1000000, CAST(unixepoch('subsec') * 1000 AS INTEGER) FROM gateways`,
  )
  await rowsOf(test.dataDir).run(
    "CREATE TRIGGER another AFTER INSERT ON jobs BEGIN UPDATE jobs SET claimed_by = 'another' WHERE key = NEW.key; END",
  )
  await uploadOne(test.engine, ADA, spaceId, { filename: 'a.md', text: TEXT })
  await rowsOf(test.dataDir).run('DROP TRIGGER another')
}

const beat = () => services.last(Gateway).poll()

it('an open engine renews its row in the list of gateways, and removes the row when it closes', async () => {
  const [first] = gateways()
  expect(gateways()).toHaveLength(1)
  await age(20_000, '')
  await beat()
  const [later] = gateways()
  expect(later?.['id']).toBe(first?.['id'])
  expect(Number(later?.['beat_at'])).toBeGreaterThanOrEqual(Number(first?.['beat_at']))
  await test.engine.close()
  expect(gateways()).toEqual([])
  await test.reopen()
  expect(gateways()).toHaveLength(1)
})

it('an engine takes over the jobs of another engine that was silent for a minute, and not earlier', async () => {
  await jobOfAnother()
  await beat()
  expect(jobs()).toEqual([{ stage: 'queued', claimed_by: 'another' }])
  await age(61_000, "WHERE id = 'another'")
  await beat()
  await until(() => jobs()[0]?.['stage'] === 'published')
  expect(gateways()).toHaveLength(1)
})

it('an engine that slept waits one heartbeat before it declares other engines dead', async () => {
  await jobOfAnother()
  await age(90_000, '')
  await beat()
  expect(jobs()).toEqual([{ stage: 'queued', claimed_by: 'another' }])
  await beat()
  await until(() => jobs()[0]?.['stage'] === 'published')
})

it('an engine that others declared dead leaves its sync to them, and registers again', async () => {
  site = await startSite({ '/': () => undefined })
  const source = { name: 'Site', type: 'web' as const, uri: `${site.url}/`, permissionScope: [], metadata: {} }
  const { id } = await test.engine.sources.create(ADA, spaceId, source)
  const crawl = test.engine.sources.crawl(ADA, spaceId, id).then(
    () => 'read',
    (error: unknown) => String(error),
  )
  await until(() => site?.hits.includes('/') === true)
  await rowsOf(test.dataDir).run('DELETE FROM gateways')
  await rowsOf(test.dataDir).run("UPDATE sources SET claimed_by = 'another', fence = fence + 1")
  await beat()
  expect(await crawl).toContain('another process took it over')
  expect(rowsOf(test.dataDir).all('SELECT status, claimed_by, fence FROM sources')).toEqual([
    { status: 'syncing', claimed_by: 'another', fence: 2 },
  ])
  expect(gateways()).toHaveLength(1)
})
