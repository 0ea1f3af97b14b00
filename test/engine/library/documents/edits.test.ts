import { createHash } from 'node:crypto'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { ADA, ask, ingest, startEngine, type TestEngine } from '../../../helpers/engine.js'

let test: TestEngine
let spaceId: string

beforeEach(async () => {
  test = await startEngine()
  spaceId = (await test.engine.spaces.create(ADA, { name: 'N', slug: 'n' })).id
})
afterEach(() => test.end())

const textOf = (year: number) => `# Lighthouse\n\nThe lighthouse of Westerheversand was built in ${year}.\n`
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
const documents = async () => (await test.engine.documents.list(ADA, spaceId, { limit: 10 })).items
const check = async (text: string) => {
  const body = { items: [{ filename: 'a.md', sha256: sha256(text) }] }
  return (await test.engine.documents.check(ADA, spaceId, body)).items[0]
}

it('ten edits of a file keep the id of its document and raise its version by ten', async () => {
  const [first] = await ingest(test.engine, ADA, spaceId, { 'a.md': textOf(1900) })
  for (let edit = 1; edit <= 10; edit++) {
    const [edited] = await ingest(test.engine, ADA, spaceId, { 'a.md': textOf(1900 + edit) })
    expect(edited.asset.id).toBe(first.asset.id)
  }
  expect(await documents()).toMatchObject([
    { id: first.asset.id, version: 11, parserStatus: 'parsed', sha256: sha256(textOf(1910)) },
  ])
  expect((await ask(test.engine, ADA, spaceId, 'When was the lighthouse built?')).answer).toContain('1910')
  const previous = await test.engine.documents.parseArtifact(ADA, spaceId, first.asset.id, 10)
  expect(JSON.stringify(await previous.value())).toContain('1909')
})

it('the usage of a space counts the newest file of an edited document only', async () => {
  await ingest(test.engine, ADA, spaceId, { 'a.md': textOf(1900) })
  const longer = `${textOf(1901)}\nIt was raised by two floors later, and has a museum now.\n`
  await ingest(test.engine, ADA, spaceId, { 'a.md': longer })
  const { storage } = await test.engine.spaces.stats(ADA, spaceId, { windowMinutes: 60 })
  expect(storage).toMatchObject({ documentCount: 1, rawDocumentBytes: longer.length })
  expect(await documents()).toMatchObject([{ sizeBytes: longer.length }])
})

it('an edit that cannot be read is the newest file for a check, and the published one is restored by an upload', async () => {
  const good = textOf(1900)
  const [first] = await ingest(test.engine, ADA, spaceId, { 'a.md': good })
  const unreadable = '\0\u0001\u0002\0\u0003'
  await ingest(test.engine, ADA, spaceId, { 'a.md': unreadable })
  expect(await check(unreadable)).toMatchObject({ status: 'failed', documentId: first.asset.id })
  expect(await check(good)).toMatchObject({ status: 'changed', documentId: first.asset.id })
  await ingest(test.engine, ADA, spaceId, { 'a.md': good })
  expect(await check(good)).toMatchObject({ status: 'unchanged', documentId: first.asset.id, parserStatus: 'parsed' })
  const report = await test.engine.integrity.fsck(ADA, spaceId, { check: 'raw-objects', deep: false })
  expect(report.issues).toEqual([])
})

it.each([
  ['of no bytes', ''],
  ['of white space', '  \n\n'],
  ['of front matter', '---\ntitle: x\n---\n'],
  ['of a comment', '<!-- gone -->\n'],
])(
  'an edited file %s removes the passages of its document, which keeps its id and can get a text again',
  async (_, file) => {
    const [first] = await ingest(test.engine, ADA, spaceId, { 'a.md': textOf(1900) })
    await ingest(test.engine, ADA, spaceId, { 'a.md': file })
    expect(await documents()).toMatchObject([{ id: first.asset.id, version: 2, parserStatus: 'parsed' }])
    const artifact = await test.engine.documents.parseArtifact(ADA, spaceId, first.asset.id, 2)
    expect(JSON.stringify(await artifact.value())).toMatch(/"warnings":\["a\.md (?:is empty|has no text)"\]/)
    expect((await ask(test.engine, ADA, spaceId, 'When was the lighthouse built?')).answer).not.toContain('1900')
    expect(await check(file)).toMatchObject({ status: 'unchanged' })
    for (const kind of ['references', 'raw-objects', 'artifact-segments'] as const)
      expect((await test.engine.integrity.fsck(ADA, spaceId, { check: kind, deep: true })).issues).toEqual([])
    await ingest(test.engine, ADA, spaceId, { 'a.md': textOf(1901) })
    expect((await ask(test.engine, ADA, spaceId, 'When was the lighthouse built?')).answer).toContain('1901')
    expect(await documents()).toMatchObject([{ id: first.asset.id, version: 3 }])
  },
)

it('a document has the warnings of its published file in its metadata', async () => {
  await ingest(test.engine, ADA, spaceId, { 'a.rst': 'Tides\n=====\n\nHigh.\n\n.. include:: other.rst\n' })
  expect((await documents())[0]?.metadata.warnings).toEqual(['not followed: other.rst'])
  await ingest(test.engine, ADA, spaceId, { 'a.rst': 'Tides\n=====\n\nLow.\n' })
  expect((await documents())[0]?.metadata).not.toHaveProperty('warnings')
})

it('a deleted document is no edit: the next upload of its name makes a document of its own', async () => {
  const [first] = await ingest(test.engine, ADA, spaceId, { 'a.md': textOf(1900) })
  await test.engine.documents.delete(ADA, spaceId, [first.asset.id])
  const [second] = await ingest(test.engine, ADA, spaceId, { 'a.md': textOf(1901) })
  expect(second.asset.id).not.toBe(first.asset.id)
  expect(await documents()).toMatchObject([{ id: second.asset.id, version: 1 }])
})
