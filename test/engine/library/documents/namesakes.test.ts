import { afterEach, beforeEach, expect, it } from 'vitest'
import { ADA, ask, ingest, startEngine, type TestEngine, uploadOne } from '../../../helpers/engine.js'
import { until } from '../../../helpers/until.js'

const GOOD = '# Lighthouse\n\nThe lighthouse of Westerheversand was built in 1908.\n'
const UNREADABLE = '\0\u0001\u0002\0\u0003'

let test: TestEngine
let spaceId: string

beforeEach(async () => {
  test = await startEngine()
  spaceId = (await test.engine.spaces.create(ADA, { name: 'N', slug: 'n' })).id
})
afterEach(() => test.end())

const documents = async () =>
  (await test.engine.documents.list(ADA, spaceId, { limit: 10 })).items
    .map(({ filename, parserStatus, version }) => [filename, parserStatus, version])
    .sort()
const answer = async () => (await ask(test.engine, ADA, spaceId, 'When was the lighthouse built?')).answer

it('an unreadable newer file leaves the published version in use, even if the document is compiled again', async () => {
  const [good] = await ingest(test.engine, ADA, spaceId, { 'a.md': GOOD })
  await ingest(test.engine, ADA, spaceId, { 'a.md': UNREADABLE })
  expect(await answer()).toContain('1908')
  const { bulkJobId } = await test.engine.documents.reindex(ADA, spaceId, { documentIds: [good.asset.id] })
  await until(async () => (await test.engine.jobs.bulk(ADA, bulkJobId)).status === 'failed')
  expect(await answer()).toContain('1908')
  expect(await documents()).toEqual([['a.md', 'parsed', 1]])
  expect((await test.engine.documents.get(ADA, spaceId, good.asset.id)).metadata).toMatchObject({
    error: { code: 'unsupported-type' },
  })
})

it('a readable newer file is the next version of its document, also after an unreadable one', async () => {
  const [good] = await ingest(test.engine, ADA, spaceId, { 'a.md': GOOD })
  await ingest(test.engine, ADA, spaceId, { 'a.md': UNREADABLE })
  await ingest(test.engine, ADA, spaceId, { 'a.md': GOOD.replace('1908', '1877'), 'b.md': GOOD.replace('1908', 'May') })
  expect(await documents()).toEqual([
    ['a.md', 'parsed', 2],
    ['b.md', 'parsed', 1],
  ])
  const { metadata } = await test.engine.documents.get(ADA, spaceId, good.asset.id)
  expect(metadata).not.toHaveProperty('error')
  expect(await answer()).not.toContain('1908')
})

it('the later of two files with one name survives when both are compiled at once', async () => {
  const first = await uploadOne(test.engine, ADA, spaceId, { filename: 'a.md', text: GOOD })
  const second = await uploadOne(test.engine, ADA, spaceId, { filename: 'a.md', text: GOOD.replace('1908', '1877') })
  expect(second.asset.id).toBe(first.asset.id)
  for (const accepted of [first, second]) await test.engine.documents.settled(ADA, spaceId, accepted)
  expect(await documents()).toMatchObject([['a.md', 'parsed', expect.any(Number)]])
  expect(await answer()).toContain('1877')
})
