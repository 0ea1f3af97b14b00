import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { FsckCheck } from '../../src/contract/gateway/integrity.js'
import { Ledger, verify } from '../crash/ledger.js'
import { crashSeed, seededRandom } from '../crash/random.js'
import { type Deployment, lacking, startDeployment } from './deployment.js'
import { type Load, startLoad, stuck } from './load.js'

const KILLS = Number(process.env['KS_CLUSTER_KILLS'] ?? 3)
const PROMOTIONS = Number(process.env['KS_CLUSTER_PROMOTIONS'] ?? 1)
/** After this silence, other gateways may take over the claims of a gateway. */
const SILENT_MS = 60_000
const MINUTE_MS = 60_000

const seed = crashSeed()
const random = seededRandom(seed)
const between = (least: number, most: number) => least + random() * (most - least)

describe.skipIf(lacking.length > 0)(`three gateways under load (KS_CRASH_SEED=${seed})`, () => {
  let deployment: Deployment
  let ledger: Ledger
  let load: Load

  beforeAll(async () => {
    deployment = await startDeployment()
  }, 3 * MINUTE_MS)

  afterAll(async () => {
    await deployment?.end()
  })

  let spaces = 0
  beforeEach(async () => {
    const slug = `space-${spaces++}`
    const { id } = await deployment.client.request('POST /knowledge-spaces', { body: { name: slug, slug } })
    ledger = new Ledger(id)
    load = startLoad(deployment.client, ledger, spaces * 100_000)
    await sleep(3000)
  })

  afterEach(async () => {
    await load.stop()
  })

  /** Checks everything that must hold after a fault. */
  async function promisesHold(name: string): Promise<void> {
    await load.stop()
    const { client, database } = deployment
    expect(await stuck(client, ledger.spaceId), 'on their way after 90 s').toEqual([])
    const findings = await verify(client, ledger)
    expect(findings).toMatchObject({ lost: [], half: [], risen: [], stuck: [] })
    const files = await Promise.all(
      [...load.files].map(async ([path, content]) => {
        const { content: found } = await client.request('GET /knowledge-spaces/{id}/fs/cat', {
          path: { id: ledger.spaceId },
          query: { path },
        })
        return found.includes(content) ? [] : [path]
      }),
    )
    expect(files.flat(), 'files that are not as they were written').toEqual([])
    for (const check of FsckCheck.options) {
      const { summary, issues } = await client.request('GET /knowledge-spaces/{id}/fsck', {
        path: { id: ledger.spaceId },
        query: { check },
      })
      expect([check, summary.error + summary.critical, issues.filter(({ severity }) => severity !== 'info')]).toEqual([
        check,
        0,
        [],
      ])
    }
    const gaps = await database.ask(
      'SELECT space_key FROM publications GROUP BY space_key HAVING count(*) <> max(revision) - min(revision) + 1',
    )
    expect(gaps, 'spaces whose revisions have gaps').toEqual([])
    const twice = await database.ask(
      "SELECT doc_key, version FROM jobs WHERE stage = 'published' GROUP BY doc_key, version HAVING count(*) > 1",
    )
    expect(twice, 'published twice').toEqual([])
    const { questions, degraded } = load.answered
    process.stdout.write(
      `FIGURE cluster ${name}: acknowledged ${findings.acknowledged}, files ${load.files.size}, lost 0, twice 0, questions ${questions}, degraded ${degraded}, refused ${JSON.stringify([...load.failures])}\n`,
    )
    expect(findings.acknowledged).toBeGreaterThan(0)
  }

  it(`lose nothing when a random gateway is killed ${KILLS} times`, { timeout: (KILLS + 4) * MINUTE_MS }, async () => {
    for (let kill = 0; kill < KILLS; kill++) {
      await sleep(between(500, 5000))
      const victim = deployment.gateways[Math.floor(random() * deployment.gateways.length)]
      await victim?.killed()
    }
    await promisesHold(`kills ${KILLS}`)
  })

  it(`lose nothing when the primary database is killed and its standby promoted, ${PROMOTIONS} times`, {
    timeout: (PROMOTIONS + 4) * MINUTE_MS,
  }, async () => {
    for (let promotion = 0; promotion < PROMOTIONS; promotion++) {
      await sleep(between(1000, 6000))
      await deployment.database.failOver()
    }
    await promisesHold(`promotions ${PROMOTIONS}`)
  })

  it('publish nothing twice when a suspended gateway resumes after its claims have expired', {
    timeout: 7 * MINUTE_MS,
  }, async () => {
    const [victim] = deployment.gateways
    victim?.process.child.kill('SIGSTOP')
    await sleep(SILENT_MS + 15_000)
    victim?.process.child.kill('SIGCONT')
    await sleep(5000)
    await promisesHold('stopped past its claims')
  })

  it('lose nothing while the object storage fails or drops connections', { timeout: 6 * MINUTE_MS }, async () => {
    for (const fault of ['unavailable', 'drops', 'none', 'drops', 'none'] as const) {
      deployment.storage.fault(fault)
      await sleep(between(2000, 5000))
    }
    await promisesHold('storage')
  })

  it('keep bytes that one gateway uploads while a second deletes them', { timeout: 6 * MINUTE_MS }, async () => {
    const [one, two] = deployment.gateways
    const content = { bytes: Buffer.from('# Same\n\nThe same words under many names.\n') }
    const path = { id: ledger.spaceId }
    const kept: string[] = []
    const loop = async (client: typeof deployment.client, name: string) => {
      for (let round = 0; round < 15; round++) {
        const files = [{ filename: `same/${name}-${round}.md`, mimeType: 'text/markdown', content }]
        const { items } = await client.upload('POST /knowledge-spaces/{id}/documents/bulk', {
          path,
          field: 'files',
          files,
        })
        const id = items[0]?.asset.id ?? ''
        if (round % 5 === 4) kept.push(id)
        else await client.request('DELETE /knowledge-spaces/{id}/documents/bulk', { path, body: { documentIds: [id] } })
      }
    }
    if (one === undefined || two === undefined) throw new Error('there are fewer than two gateways')
    await load.stop()
    await Promise.all([loop(one.client, 'one'), loop(two.client, 'two'), loop(one.client, 'three')])
    expect(await stuck(deployment.client, ledger.spaceId)).toEqual([])
    for (const documentId of kept) {
      const document = await deployment.client.request('GET /knowledge-spaces/{id}/documents/{documentId}', {
        path: { ...path, documentId },
      })
      expect(document.parserStatus).toBe('parsed')
    }
    for (const check of FsckCheck.options) {
      const report = await deployment.client.request('GET /knowledge-spaces/{id}/fsck', { path, query: { check } })
      expect([check, report.summary.error + report.summary.critical]).toEqual([check, 0])
    }
  })

  it('lose nothing when a fourth gateway joins', { timeout: 6 * MINUTE_MS }, async () => {
    const joined = await deployment.join()
    await sleep(5000)
    expect((await joined.client.request('GET /health', {})).ok).toBe(true)
    expect(await joined.client.request('GET /knowledge-spaces/{id}', { path: { id: ledger.spaceId } })).toBeTruthy()
    await promisesHold('a fourth joined')
  })

  it('refuse requests only with 503 while the primary database is suspended for ten seconds', {
    timeout: 5 * MINUTE_MS,
  }, async () => {
    const [gateway] = deployment.gateways
    await gateway?.eventLoop()
    deployment.database.pause()
    const started = performance.now()
    const refusals: unknown[] = []
    while (performance.now() - started < 10_000) {
      await gateway?.client
        .request('POST /knowledge-spaces', { body: { name: 'late', slug: `late-${Math.round(performance.now())}` } })
        .catch((error: unknown) => refusals.push(error))
      await sleep(200)
    }
    deployment.database.resume()
    for (const refusal of refusals) expect(refusal).toMatchObject({ status: 503 })
    const delay = await gateway?.eventLoop()
    expect(delay).toBeDefined()
    process.stdout.write(
      `FIGURE cluster primary-stopped: refusals ${refusals.length}, delay of the event loop ${JSON.stringify(delay)}\n`,
    )
    await promisesHold('primary stopped for 10 s')
  })
})
