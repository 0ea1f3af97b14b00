import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { rowsOf } from '../../../helpers/databases.js'
import { ADA, BOB, ingest, startEngine, type TestEngine } from '../../../helpers/engine.js'
import { type FakeOpenAi, startFakeOpenAi } from '../../../helpers/fake-openai.js'

const MODEL = { pluginId: 'openai-compatible', provider: 'fake', model: 'm' }
const SHIPS = ['Aurora', 'Borealis', 'Calypso', 'Dolphin', 'Endeavour', 'Fortuna', 'Gannet', 'Heron', 'Ibis', 'Juno']
const text = (ship: string) => `The ship ${ship} belongs to the Harbour Office of ${ship} Bay.`
const FILES = Object.fromEntries(SHIPS.map((ship) => [`${ship.toLowerCase()}.md`, text(ship)]))

let server: FakeOpenAi
let test: TestEngine
let spaceId: string

/** The model states that the ship of the passage leads its bay, which no rule finds. */
const says = (messages: { role: string; content: string }[]): string => {
  const passage: string = JSON.parse(messages.at(-1)?.content ?? '{}').passage ?? ''
  const [, ship = ''] = /ship (\w+)/.exec(passage) ?? []
  const entities = [
    { name: ship, type: 'product' },
    { name: `${ship} Bay`, type: 'organization' },
  ]
  return JSON.stringify({ entities, relations: [{ subject: ship, type: 'leads', object: `${ship} Bay` }] })
}

const readings = () => test.engine.graph.readings
const start = (budgetTokens = 500_000) => readings().start(ADA, spaceId, { budgetTokens })
const ends = async (id: string, state: string) => {
  await expect.poll(async () => (await readings().get(ADA, spaceId, id)).state).toBe(state)
  return readings().get(ADA, spaceId, id)
}
const askedShips = () =>
  server.requests.flatMap(({ body }) => /ship (\w+)/.exec(body.messages?.at(-1)?.content ?? '')?.[1] ?? [])
const leads = async () => {
  const { items } = await test.engine.graph.relations(ADA, spaceId, { limit: 100 })
  return items.filter(({ metadata }) => metadata.predicate === 'leads').map(({ metadata }) => metadata.subject)
}

async function open(withModel: boolean): Promise<void> {
  const provider = { pluginId: MODEL.pluginId, provider: 'fake', baseUrl: server.url, timeoutMs: 5000 }
  test = await startEngine({ providers: [provider] })
  spaceId = (await test.engine.spaces.create(ADA, { name: 'Ships', slug: 'ships' })).id
  if (withModel) {
    const { revision: _, ...profile } = await test.engine.spaces.retrievalProfile(ADA, spaceId)
    await test.engine.spaces.setRetrievalProfile(ADA, spaceId, { ...profile, reasoningModel: MODEL })
  }
  await ingest(test.engine, ADA, spaceId, FILES)
}

beforeEach(async () => {
  server = await startFakeOpenAi({ answer: says })
})
afterEach(async () => {
  await test.end()
  await server.close()
})

describe('a graph reading of a complete space by a model', () => {
  it('asks the model once per distinct text and stores the results', async () => {
    await open(true)
    const begun = await start()
    expect(begun).toMatchObject({ state: 'reading', model: MODEL, passages: 10, budgetTokens: 500_000 })
    const done = await ends(begun.id, 'completed')
    expect(done).toMatchObject({ passages: 10, passagesRead: 10, passagesAsked: 10, passagesUnusable: 0 })
    expect(done.usedTokens).toBeGreaterThan(0)
    expect(askedShips().sort()).toEqual(SHIPS)
    expect((await leads()).sort()).toEqual(SHIPS)
    // The same text in another document, and a new text.
    await ingest(test.engine, ADA, spaceId, { 'copy.md': text('Aurora'), 'kestrel.md': text('Kestrel') })
    const again = await ends((await start()).id, 'completed')
    expect(again).toMatchObject({ passages: 12, passagesRead: 12, passagesAsked: 1 })
    expect(askedShips().slice(10)).toEqual(['Kestrel'])
    expect(await leads()).toHaveLength(11)
    expect((await readings().list(ADA, spaceId)).items.map(({ id }) => id)).toEqual([again.id, done.id])
    await expect(readings().get(BOB, spaceId, done.id)).rejects.toMatchObject({ code: 'not-found' })
    await expect(readings().start(BOB, spaceId, { budgetTokens: 1000 })).rejects.toMatchObject({ code: 'not-found' })
  })

  it('stops within its budget and reports its progress, and the next reading continues from there', async () => {
    await open(true)
    const short = await ends((await start(3500)).id, 'budget-spent')
    expect(short.usedTokens).toBeLessThanOrEqual(3500)
    expect(short.passagesRead).toBeGreaterThan(0)
    expect(short.passagesRead).toBeLessThan(10)
    expect(short.message).toMatch(
      new RegExp(`^The budget of 3,500 tokens is spent, with ${short.passagesRead} of 10 passages read\\.`),
    )
    expect(server.requests).toHaveLength(short.passagesRead)
    expect(await ends((await start()).id, 'completed')).toMatchObject({ passagesRead: 10 })
    expect(askedShips().sort()).toEqual(SHIPS)
  })

  it('continues after a restart with the remaining passages', async () => {
    await open(true)
    server.always({ kind: 'slow', ms: 100 })
    const { id } = await start()
    await expect.poll(async () => (await readings().get(ADA, spaceId, id)).passagesRead).toBeGreaterThan(0)
    expect((await test.engine.activity()).backgroundTasks).toBeGreaterThan(0)
    await test.reopen()
    expect(await ends(id, 'completed')).toMatchObject({ passagesRead: 10 })
    expect(new Set(askedShips()).size).toBe(10)
    // Requests that were running at the stop are repeated, no others.
    expect(askedShips().length).toBeLessThanOrEqual(14)
    expect(await leads()).toHaveLength(10)
  })

  it('sends no more requests to the model after its cancellation', async () => {
    await open(true)
    server.always({ kind: 'hang' })
    const { id } = await start()
    // The number of concurrent requests.
    await expect.poll(() => server.requests.length).toBe(4)
    expect(await readings().cancel(ADA, spaceId, id)).toMatchObject({ state: 'canceled' })
    await expect(readings().cancel(ADA, spaceId, id)).rejects.toMatchObject({ code: 'already-terminal' })
    await expect.poll(async () => (await test.engine.activity()).backgroundTasks).toBe(0)
    expect(server.requests).toHaveLength(4)
  })

  it('waits for an unavailable model, and fails on a permanent error of the model', async () => {
    await open(true)
    server.always({ kind: 'status', status: 503 })
    const { id } = await start()
    await ends(id, 'waiting')
    expect(await readings().get(ADA, spaceId, id)).toMatchObject({ errorClass: 'unavailable' })
    server.always()
    expect(await ends(id, 'completed')).toMatchObject({ passagesRead: 10 })
    await ingest(test.engine, ADA, spaceId, { 'kestrel.md': text('Kestrel') })
    server.always({ kind: 'status', status: 401 })
    const failed = await ends((await start()).id, 'failed')
    expect(failed).toMatchObject({ errorClass: 'auth', passagesRead: 10, passages: 11 })
  })

  it('counts passages without a usable response of the model as unusable', async () => {
    await open(true)
    server.script({ kind: 'status', status: 400 })
    const done = await ends((await start()).id, 'completed')
    expect(done).toMatchObject({ passages: 10, passagesRead: 9, passagesUnusable: 1 })
  })

  it('uses rules if the space has no model', async () => {
    await open(false)
    const done = await ends((await start()).id, 'completed')
    expect(done).toMatchObject({ passages: 10, passagesRead: 10, passagesAsked: 0, usedTokens: 0 })
    expect(done.model).toBeUndefined()
    expect(server.requests).toEqual([])
  })

  it('loses the stored results of a deleted document', async () => {
    await open(true)
    await ends((await start()).id, 'completed')
    const [gone] = (await test.engine.documents.list(ADA, spaceId, { limit: 1 })).items
    await test.engine.documents.delete(ADA, spaceId, [gone?.id ?? ''])
    const kept = () => rowsOf(test.dataDir).value('SELECT count(*) FROM graph_model_reads')
    await expect.poll(kept).toBe(9)
  })
})
