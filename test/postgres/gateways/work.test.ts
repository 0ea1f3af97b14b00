import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ADA, ask, ingest, uploadOne } from '../../helpers/engine.js'
import { engineAt, type Gateways, startGateways } from '../../helpers/gateways.js'
import { hasServer } from '../../helpers/postgres.js'
import { until } from '../../helpers/until.js'

const LAMPS = '# Lamps\n\nThe keeper of the lighthouse fills the lamp with colza oil every evening at sunset.\n'

describe.skipIf(!hasServer)('work on two gateways', () => {
  let gateways: Gateways
  let space: string

  beforeEach(async () => {
    gateways = await startGateways(2)
    space = (await engineAt(gateways, 0).spaces.create(ADA, { name: 'Lighthouse', slug: 'lighthouse' })).id
  })
  afterEach(() => gateways.end())

  const numbers = async (text: string) => (await gateways.rows<{ n: string }>(text)).map(({ n }) => Number(n))

  it('can be awaited and followed at the gateway that did not accept it', { timeout: 120_000 }, async () => {
    const [one, two] = [engineAt(gateways, 0), engineAt(gateways, 1)]
    const accepted = await uploadOne(one, ADA, space, { filename: 'lamps.md', text: LAMPS })
    expect(await two.documents.settled(ADA, space, accepted)).toMatchObject({ parserStatus: 'parsed' })
    const task = await one.research.create(ADA, {
      knowledgeSpaceId: space,
      query: 'What is in the lamp?',
      mode: 'fast',
    })
    const events: string[] = []
    const follow = await two.research.events(ADA, task.id, { limit: 1000 }, new AbortController().signal)
    for await (const { event } of follow) events.push(event)
    expect(events.at(-1)).toBe('research.completed')
    expect((await one.research.get(ADA, task.id)).stage).toBe('completed')
  })

  it('shows in the first answer of the other gateway', { timeout: 120_000 }, async () => {
    const [one, two] = [engineAt(gateways, 0), engineAt(gateways, 1)]
    for (let turn = 1; turn <= 5; turn++) {
      await ingest(one, ADA, space, {
        [`buoy-${turn}.md`]: `# Buoy ${turn}\n\nThe buoy number ${turn} is painted in colour x${turn}y.\n`,
      })
      const { answer } = await ask(two, ADA, space, `In which colour is the buoy number ${turn} painted?`)
      expect(answer).toContain(`x${turn}y`)
    }
    expect(two.gateways()).toBe(2)
  })

  it('on the same documents uses each version number once, and leaves one published document and no failed job', {
    timeout: 180_000,
  }, async () => {
    const upload = (place: number, turn: number) =>
      uploadOne(engineAt(gateways, place), ADA, space, { filename: 'same.md', text: `# Same\n\nTurn ${turn}.\n` })
    for (let turn = 0; turn < 6; turn++) {
      const [one, two] = await Promise.all([0, 1].map((place) => upload(place, turn)))
      // The same bytes under the same name are one document.
      expect(one?.asset.id).toBe(two?.asset.id)
    }
    const documents = await gateways.rows<{ id: string }>("SELECT id FROM documents WHERE filename = 'same.md'")
    expect(documents.length).toBeGreaterThan(0)
    const ids = documents.map(({ id }) => id)
    const again = [0, 1, 0, 1].map((place) =>
      engineAt(gateways, place).documents.reindex(ADA, space, { documentIds: ids }),
    )
    for (const { status } of await Promise.allSettled(again)) expect(status).toBe('fulfilled')
    await until(async () => (await numbers('SELECT count(*) n FROM jobs WHERE completed_at IS NULL'))[0] === 0, 120_000)
    expect(
      await gateways.rows("SELECT id, stage, error FROM jobs WHERE stage NOT IN ('published', 'canceled')"),
    ).toEqual([])
    expect(
      await gateways.rows('SELECT doc_key, version FROM jobs GROUP BY doc_key, version HAVING count(*) > 1'),
    ).toEqual([])
    const revisions = await numbers('SELECT revision n FROM publications ORDER BY revision')
    expect(revisions).toEqual(revisions.map((_, place) => place + (revisions[0] ?? 0)))
    // A publication replaces the document of the same name.
    const listed = await Promise.all(
      [0, 1].map((place) => engineAt(gateways, place).documents.list(ADA, space, { limit: 100 })),
    )
    expect(listed[0]?.items).toHaveLength(1)
    expect(listed[1]).toEqual(listed[0])
  })
})

describe.skipIf(!hasServer)('an idempotency key on two gateways', () => {
  it('gets one response from both, an error while its request runs, and is released when its gateway has died', {
    timeout: 120_000,
  }, async () => {
    const gateways = await startGateways(2)
    try {
      const [one, two] = [engineAt(gateways, 0).idempotency, engineAt(gateways, 1).idempotency]
      const response = { status: 201, body: '{"a":1}', headers: { 'content-type': 'application/json' } }
      expect(await one.begin(ADA, 'k', 'f')).toBeUndefined()
      for (const gateway of [one, two]) await expect(gateway.begin(ADA, 'k', 'f')).rejects.toThrow('is still running')
      await one.finish(ADA, 'k', response)
      for (const gateway of [one, two]) expect(await gateway.begin(ADA, 'k', 'f')).toEqual(response)
      await expect(two.begin(ADA, 'k', 'other')).rejects.toThrow('used with another request')

      const both = await Promise.allSettled([one, two, one, two].map((gateway) => gateway.begin(ADA, 'at once', 'f')))
      expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected', 'rejected', 'rejected'])

      expect(await one.begin(ADA, 'left', 'f')).toBeUndefined()
      const [row] = await gateways.rows<{ instance: string }>("SELECT instance FROM idempotency WHERE key = 'left'")
      await gateways.rows('UPDATE gateways SET beat_at = beat_at - 61000 WHERE id = $1', [row?.instance])
      await gateways.join()
      expect(await two.begin(ADA, 'left', 'f')).toBeUndefined()
      // The gateway that counts as dead does not overwrite the response of the other.
      await one.finish(ADA, 'left', response)
      await expect(two.begin(ADA, 'left', 'f')).rejects.toThrow('is still running')
    } finally {
      await gateways.end()
    }
  })
})
