import { afterEach, beforeEach, expect, it } from 'vitest'
import { ADA, ask, ingest, startEngine, type TestEngine, uploadOne } from '../../../helpers/engine.js'
import { until } from '../../../helpers/until.js'

const GOOD = '# Lighthouse\n\nThe lighthouse of Westerheversand was built in 1908.\n'

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

async function compileAgain(documentId: string): Promise<void> {
  const { bulkJobId } = await test.engine.documents.reindex(ADA, spaceId, { documentIds: [documentId] })
  await until(async () => (await test.engine.jobs.bulk(ADA, bulkJobId)).status === 'completed')
}

it('an unreadable newer file leaves the older document of its name in use, even if that is recompiled', async () => {
  const [good] = await ingest(test.engine, ADA, spaceId, { 'a.md': GOOD })
  await ingest(test.engine, ADA, spaceId, { 'a.md': '' })
  expect(await answer()).toContain('1908')
  await compileAgain(good.asset.id)
  expect(await answer()).toContain('1908')
  expect(await documents()).toEqual([
    ['a.md', 'failed', 1],
    ['a.md', 'parsed', 2],
  ])
})

it('a readable newer file replaces all earlier documents of the same name', async () => {
  await ingest(test.engine, ADA, spaceId, { 'a.md': GOOD })
  await ingest(test.engine, ADA, spaceId, { 'a.md': '' })
  await ingest(test.engine, ADA, spaceId, { 'a.md': GOOD.replace('1908', '1877'), 'b.md': GOOD.replace('1908', 'May') })
  expect(await documents()).toEqual([
    ['a.md', 'parsed', 1],
    ['b.md', 'parsed', 1],
  ])
  expect(await answer()).not.toContain('1908')
})

it('the later of two files with one name survives when both are compiled at once', async () => {
  const first = await uploadOne(test.engine, ADA, spaceId, { filename: 'a.md', text: GOOD })
  const second = await uploadOne(test.engine, ADA, spaceId, { filename: 'a.md', text: GOOD.replace('1908', '1877') })
  for (const accepted of [first, second]) await test.engine.documents.settled(ADA, spaceId, accepted).catch(() => {})
  expect(await documents()).toEqual([['a.md', 'parsed', 1]])
  expect(await answer()).toContain('1877')
})
