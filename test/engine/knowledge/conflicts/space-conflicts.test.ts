import { Readable } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { SpaceConflicts, SpaceConflictsQuery } from '../../../../src/contract/gateway/conflicts.js'
import type { Caller } from '../../../../src/engine/index.js'
import { rowsOf } from '../../../helpers/databases.js'
import { ADA, BOB, ingest, startEngine, type TestEngine } from '../../../helpers/engine.js'
import { startFakeOpenAi } from '../../../helpers/fake-openai.js'
import { until } from '../../../helpers/until.js'

let test: TestEngine
let spaceId: string

beforeEach(async () => {
  test = await startEngine()
  spaceId = (await test.engine.spaces.create(ADA, { name: 'Rules', slug: 'rules' })).id
})
afterEach(() => test.end())

const GRACE: Caller = { ...ADA, subject: 'grace' }
const HANDBOOK =
  '# Handbook\n\nAll server backups are kept for 30 days. Every employee receives 28 days of vacation a year.\n'
const GUIDE =
  '# Operations guide\n\nServer backups are stored for 90 days. Employees get 25 days of vacation per year.\n'
const NOTES = '# Notes\n\nUntil 2022 server backups were kept for 14 days. The canteen is open.\n'

const ALL: SpaceConflictsQuery = { limit: 50, includeDifferences: 'false' }

/** The list after everything is compared. */
async function compared(query: Partial<SpaceConflictsQuery> = {}, caller: Caller = ADA): Promise<SpaceConflicts> {
  let list = await test.engine.quality.conflicts(caller, spaceId, { ...ALL, ...query })
  await until(async () => {
    list = await test.engine.quality.conflicts(caller, spaceId, { ...ALL, ...query })
    return list.pendingDocuments === 0
  })
  return list
}

const saidBy = ({ items }: SpaceConflicts) => items.map(({ sides }) => sides.map(({ quote }) => quote).sort()).sort()

const BACKUPS = ['All server backups are kept for 30 days.', 'Server backups are stored for 90 days.']
const VACATION = ['Employees get 25 days of vacation per year.', 'Every employee receives 28 days of vacation a year.']

describe('the conflicts of a space', () => {
  it('appear after publication, with both sides, their documents and the days of storage', async () => {
    await ingest(test.engine, ADA, spaceId, { 'handbook.md': HANDBOOK, 'guide.md': GUIDE })
    const list = await compared()
    expect(saidBy(list)).toEqual([BACKUPS, VACATION])
    expect(list).toMatchObject({ comparedDocuments: 2, pendingDocuments: 0 })
    const backups = list.items.find(({ reason }) => reason.includes('90 days'))
    expect(backups).toMatchObject({ kind: 'number', relation: 'contradiction', decidedBy: 'rules' })
    expect(backups?.sides.map(({ filename }) => filename).sort()).toEqual(['guide.md', 'handbook.md'])
    for (const { storedAt, sectionPath } of backups?.sides ?? []) {
      expect(Date.parse(storedAt)).toBeGreaterThan(0)
      expect(sectionPath).toHaveLength(1)
    }
  })

  it('exclude claims about different times unless differences are requested', async () => {
    await ingest(test.engine, ADA, spaceId, { 'guide.md': GUIDE, 'notes.md': NOTES })
    expect((await compared()).items).toEqual([])
    const [difference] = (await compared({ includeDifferences: 'true' })).items
    expect(difference).toMatchObject({ kind: 'number', relation: 'newer' })
  })

  it('include every pair of contradicting statements among seven documents', async () => {
    const towns = ['Hamburg', 'Bremen', 'Kiel', 'Lübeck', 'Rostock', 'Emden', 'Stade', 'Wismar']
    const report = (nth: number) =>
      towns.map((town, place) => `The harbour of ${town} has ${10 + 7 * place + nth} berths.`).join('\n\n')
    const files = Array.from({ length: 7 }, (_, nth) => [`report-${nth}.md`, `# Report\n\n${report(nth)}\n`])
    await ingest(test.engine, ADA, spaceId, Object.fromEntries(files))
    await compared()
    const pairs = rowsOf(test.dataDir)
      .all<{ n: number }>('SELECT count(*) n FROM conflicts GROUP BY one_version, other_version')
      .map(({ n }) => n)
    expect(pairs).toEqual(Array.from({ length: 21 }, () => towns.length))
  })

  it('disappear if one of the documents is replaced by a version without the contradiction', async () => {
    await ingest(test.engine, ADA, spaceId, { 'handbook.md': HANDBOOK, 'guide.md': GUIDE })
    expect((await compared()).items).toHaveLength(2)
    await ingest(test.engine, ADA, spaceId, { 'guide.md': GUIDE.replace('90 days', '30 days') })
    expect(saidBy(await compared())).toEqual([VACATION])
  })

  it('disappear if one of the documents is deleted', async () => {
    const [handbook] = await ingest(test.engine, ADA, spaceId, { 'handbook.md': HANDBOOK, 'guide.md': GUIDE })
    expect((await compared()).items).toHaveLength(2)
    await test.engine.documents.delete(ADA, spaceId, [handbook?.asset.id ?? ''])
    expect((await compared()).items).toEqual([])
    expect(rowsOf(test.dataDir).value('SELECT count(*) FROM conflicts')).toBe(0)
  })

  it('include those of a document that is added after a comparison and a restart', async () => {
    await ingest(test.engine, ADA, spaceId, { 'handbook.md': HANDBOOK })
    expect((await compared()).items).toEqual([])
    await test.reopen()
    await ingest(test.engine, ADA, spaceId, { 'guide.md': GUIDE })
    expect(saidBy(await compared())).toEqual([BACKUPS, VACATION])
  })

  it('appear completely after the next start if a crash interrupted the comparison', async () => {
    await ingest(test.engine, ADA, spaceId, { 'handbook.md': HANDBOOK, 'guide.md': GUIDE })
    await compared()
    await test.engine.close()
    // One document was read but not compared, the other is unknown; half of the conflicts was stored.
    const { run } = rowsOf(test.dataDir)
    await run('UPDATE conflict_claims SET compared = 0')
    await run('DELETE FROM conflict_claims WHERE version_key = (SELECT min(version_key) FROM conflict_claims)')
    await run('DELETE FROM conflicts WHERE key = (SELECT min(key) FROM conflicts)')
    await test.reopen()
    expect(saidBy(await compared())).toEqual([BACKUPS, VACATION])
  })

  it('can be listed by kind and document, page by page', async () => {
    const [, guide] = await ingest(test.engine, ADA, spaceId, {
      'handbook.md': HANDBOOK,
      'guide.md': GUIDE,
      'hosts.md': '# Hosts\n\nThe billing database is hosted in Dublin.\n',
      'sites.md': '# Sites\n\nThe billing database is hosted in Frankfurt.\n',
    })
    expect((await compared({ kind: 'alternative' })).items.map(({ reason }) => reason)).toEqual([
      'different names: Frankfurt and Dublin',
    ])
    const ofGuide = await compared({ documentId: guide?.asset.id ?? '' })
    expect(saidBy(ofGuide)).toEqual([BACKUPS, VACATION])
    const first = await compared({ limit: 2 })
    expect(first.items).toHaveLength(2)
    const rest = await compared({ limit: 2, cursor: first.nextCursor ?? '' })
    expect(rest.items).toHaveLength(1)
    expect(rest.nextCursor).toBeUndefined()
    const ids = [...first.items, ...rest.items].map(({ id }) => id)
    expect(new Set(ids).size).toBe(3)
    await expect(compared({ cursor: first.nextCursor ?? '', kind: 'number' })).rejects.toMatchObject({
      code: 'invalid-cursor',
    })
  })

  it('come with a degraded reason while some documents are not compared yet', async () => {
    const upload = await test.engine.documents.upload(ADA, spaceId, { many: true })
    for (const [filename, text] of Object.entries({ 'handbook.md': HANDBOOK, 'guide.md': GUIDE }))
      await upload.add({ filename, content: Readable.from([Buffer.from(text)]) })
    await upload.commit({})
    const early = await test.engine.quality.conflicts(ADA, spaceId, ALL)
    if (early.pendingDocuments > 0) expect(early.degradedReasons?.[0]).toContain('were not compared')
    else expect(early.items).toHaveLength(2)
    expect((await compared()).degradedReasons).toBeUndefined()
  })

  it('can be read only by readers of both sides', async () => {
    await ingest(test.engine, ADA, spaceId, { 'handbook.md': HANDBOOK })
    const { documents, sources } = test.engine
    const about = { name: 'S', type: 'upload' as const, uri: 'upload:s', metadata: {} }
    const source = await sources.create(GRACE, spaceId, { ...about, permissionScope: ['grace'] })
    const upload = await documents.upload(GRACE, spaceId, { many: true })
    await upload.add({ filename: 'guide.md', content: Readable.from([Buffer.from(GUIDE)]) })
    for (const item of await upload.commit({ sourceId: source.id })) await documents.settled(GRACE, spaceId, item)
    expect((await compared({}, GRACE)).items).toHaveLength(2)
    expect((await compared({ includeDifferences: 'true' })).items).toEqual([])
  })

  it('fail with not-found for other tenants', async () => {
    await expect(test.engine.quality.conflicts(BOB, spaceId, ALL)).rejects.toMatchObject({ code: 'not-found' })
  })
})

describe('a reasoning model of a space', () => {
  const MODEL = { pluginId: 'openai-compatible', provider: 'local', model: 'some-model' }

  it('judges each conflict found by rules once, and one that it calls compatible becomes a difference', async () => {
    const fake = await startFakeOpenAi({
      answer: () => '["contradict","compatible"]',
    })
    await test.end()
    const { pluginId, provider } = MODEL
    test = await startEngine({ providers: [{ pluginId, provider, baseUrl: fake.url, timeoutMs: 5000 }] })
    spaceId = (await test.engine.spaces.create(ADA, { name: 'Rules', slug: 'rules' })).id
    await test.engine.spaces.setRetrievalProfile(ADA, spaceId, {
      defaultMode: 'fast',
      modes: ['fast'],
      topK: 10,
      scoreThreshold: 0,
      rerank: { enabled: true },
      reasoningModel: MODEL,
    })
    try {
      await ingest(test.engine, ADA, spaceId, { 'handbook.md': HANDBOOK, 'guide.md': GUIDE })
      const list = await compared()
      expect(list.items.map(({ relation, decidedBy }) => [relation, decidedBy])).toEqual([['contradiction', 'model']])
      const all = await compared({ includeDifferences: 'true' })
      expect(all.items.map(({ relation }) => relation).sort()).toEqual(['contradiction', 'other'])
      const asked = fake.requests.length
      // The same sentences in another version.
      await ingest(test.engine, ADA, spaceId, { 'guide.md': `${GUIDE}\nThe office has plants.\n` })
      expect((await compared()).items).toHaveLength(1)
      expect(fake.requests).toHaveLength(asked)
    } finally {
      await fake.close()
    }
  })
})
