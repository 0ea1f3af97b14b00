import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ADA, ingest } from '../../helpers/engine.js'
import { type Gateways, startGateways } from '../../helpers/gateways.js'
import { hasServer } from '../../helpers/postgres.js'
import { until } from '../../helpers/until.js'

describe.skipIf(!hasServer)('the change feed on PostgreSQL', () => {
  let gateways: Gateways
  beforeAll(async () => {
    gateways = await startGateways(2)
  })
  afterAll(() => gateways.end())

  it('reports publications and workspace writes of another gateway', async () => {
    const [one, two] = gateways.all
    if (one === undefined || two === undefined) throw new Error('two gateways are needed')
    const { id } = await one.engine.spaces.create(ADA, { name: 'Harbour', slug: 'harbour' })
    const leaving = new AbortController()
    const told: string[] = []
    const following = (async () => {
      for await (const { event, data } of one.engine.changes.follow(ADA, 60, leaving.signal))
        told.push(data.knowledgeSpaceId ?? event)
    })()
    await until(() => told.includes('changes.open'))
    await ingest(two.engine, ADA, id, { 'a.md': '# A\n\nOne boat.\n' })
    await until(() => told.includes(id))
    told.length = 0
    await two.engine.fs.write(ADA, id, { path: '/workspaces/w/n.md', content: 'one' })
    await until(() => told.includes(id))
    leaving.abort()
    await following
    expect(new Set(told)).toEqual(new Set([id]))
  })
})
