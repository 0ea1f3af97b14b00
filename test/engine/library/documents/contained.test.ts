import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { DEFAULT_LIMITS } from '../../../../src/engine/readers/limits.js'
import { ADA, ask, BOB, ingest, startEngine, type TestEngine } from '../../../helpers/engine.js'
import { until } from '../../../helpers/until.js'
import { makeZip } from '../../readers/read.js'
import { makeMail, makeTar } from './inside-files.js'

const LIGHTHOUSE = '# Lighthouse\n\nThe lighthouse of Westerheversand was built in 1908.\n'
const HARBOUR = '# Harbour\n\nThe harbour of Husum was deepened in 1932.\n'

let test: TestEngine
let spaceId: string

beforeEach(async () => {
  test = await startEngine()
  spaceId = (await test.engine.spaces.create(ADA, { name: 'N', slug: 'n' })).id
})
afterEach(() => test.end())

const all = async () => (await test.engine.documents.list(ADA, spaceId, { limit: 100 })).items
const names = async () => (await all()).map(({ filename, parserStatus }) => `${filename} ${parserStatus}`).sort()
const settled = () => until(async () => (await all()).every(({ parserStatus }) => parserStatus !== 'pending'))
const answer = async (question: string) => (await ask(test.engine, ADA, spaceId, question)).answer
const idOf = async (name: string) => (await all()).find(({ filename }) => filename === name)?.id

async function add(files: Record<string, string | Uint8Array>): Promise<void> {
  await ingest(test.engine, ADA, spaceId, files)
  await settled()
}

it('attachments of a mail become documents whose parent is the mail', async () => {
  await add({ 'in/mail.eml': makeMail('The trip', 'See the file.', [{ name: 'light.md', content: LIGHTHOUSE }]) })
  expect(await names()).toEqual(['in/mail.eml parsed', 'in/mail.eml/light.md parsed'])
  const child = (await all()).find(({ filename }) => filename.endsWith('.md'))
  expect(child?.parentDocumentId).toBe(await idOf('in/mail.eml'))
  expect(await answer('When was the lighthouse of Westerheversand built?')).toContain('1908')
})

it('files of an archive are read, and so are files of an archive in that archive', async () => {
  const inner = await makeTar([{ name: 'deep/harbour.md', content: HARBOUR }])
  const zip = makeZip([
    { name: 'notes/', content: '' },
    { name: 'notes/light.md', content: LIGHTHOUSE },
    { name: 'inner.tar.gz', content: gzipSync(inner) },
  ])
  await add({ 'all.zip': zip })
  expect(await names()).toEqual([
    'all.zip parsed',
    'all.zip/inner.tar.gz parsed',
    'all.zip/inner.tar.gz/deep/harbour.md parsed',
    'all.zip/notes/light.md parsed',
  ])
  expect(await answer('When was the harbour of Husum deepened?')).toContain('1932')
})

it('each mail of a mailbox becomes a document', async () => {
  const box = ['One', 'Two']
    .map((subject) => `From ada@example.org Tue Mar  3 10:00:00 2026\n${makeMail(subject, `Text of ${subject}.`)}\n`)
    .join('\n')
  await add({ 'box.mbox': box })
  expect(await names()).toEqual([
    'box.mbox parsed',
    'box.mbox/2026-03-03 One.eml parsed',
    'box.mbox/2026-03-03 Two.eml parsed',
  ])
})

it('a newer version of an archive keeps its id and those of its files, reads changed files and deletes missing ones', async () => {
  await add({
    'a.zip': makeZip([
      { name: 'kept.md', content: LIGHTHOUSE },
      { name: 'changed.md', content: HARBOUR },
      { name: 'gone.md', content: '# Gone\n\nThe ferry to Föhr was sold in 1977.\n' },
    ]),
  })
  const [kept, changed, parent] = [await idOf('a.zip/kept.md'), await idOf('a.zip/changed.md'), await idOf('a.zip')]
  await add({
    'a.zip': makeZip([
      { name: 'kept.md', content: LIGHTHOUSE },
      { name: 'changed.md', content: HARBOUR.replace('1932', '1954') },
    ]),
  })
  await until(async () => (await all()).length === 3)
  await until(async () => (await all()).find(({ filename }) => filename === 'a.zip/changed.md')?.version === 2)
  expect(await names()).toEqual(['a.zip parsed', 'a.zip/changed.md parsed', 'a.zip/kept.md parsed'])
  expect(await idOf('a.zip/kept.md')).toBe(kept)
  expect(await idOf('a.zip/changed.md')).toBe(changed)
  const now = await idOf('a.zip')
  expect(now).toBe(parent)
  expect((await all()).filter(({ parentDocumentId }) => parentDocumentId === now)).toHaveLength(2)
  expect(await answer('When was the harbour of Husum deepened?')).toContain('1954')
})

it('compiling the same archive again creates no duplicates', async () => {
  await add({ 'a.zip': makeZip([{ name: 'light.md', content: LIGHTHOUSE }]) })
  const before = await idOf('a.zip/light.md')
  const { bulkJobId } = await test.engine.documents.reindex(ADA, spaceId, {
    documentIds: [(await idOf('a.zip')) ?? ''],
  })
  await until(async () => (await test.engine.jobs.bulk(ADA, bulkJobId)).status === 'completed')
  await settled()
  expect(await names()).toEqual(['a.zip parsed', 'a.zip/light.md parsed'])
  expect(await idOf('a.zip/light.md')).toBe(before)
})

it('deleting an archive deletes all contained documents, at every level', async () => {
  const inner = makeZip([{ name: 'light.md', content: LIGHTHOUSE }])
  await add({ 'a.zip': makeZip([{ name: 'b.zip', content: inner }]), 'c.md': HARBOUR })
  expect(await all()).toHaveLength(4)
  await test.engine.documents.delete(ADA, spaceId, [(await idOf('a.zip')) ?? ''])
  expect(await names()).toEqual(['c.md parsed'])
  expect(await answer('When was the lighthouse of Westerheversand built?')).not.toContain('1908')
})

it('an unreadable file in an archive fails alone, and the other files are read', async () => {
  await add({
    'a.zip': makeZip([
      { name: 'light.md', content: LIGHTHOUSE },
      { name: 'bad.docx', content: 'PK\x03\x04 no archive at all, but long enough to look like one' },
    ]),
  })
  expect(await names()).toEqual(['a.zip parsed', 'a.zip/bad.docx failed', 'a.zip/light.md parsed'])
})

it('an upload under the name of a contained file becomes a separate document', async () => {
  await add({ 'a.zip': makeZip([{ name: 'light.md', content: LIGHTHOUSE }]) })
  await add({ 'a.zip/light.md': HARBOUR })
  expect(await names()).toEqual(['a.zip parsed', 'a.zip/light.md parsed', 'a.zip/light.md parsed'])
})

it('an unchanged archive that is uploaded again is not read again', async () => {
  const zip = makeZip([{ name: 'light.md', content: LIGHTHOUSE }])
  await add({ 'a.zip': zip })
  const before = (await all()).map(({ id, version }) => `${id} ${version}`).sort()
  await add({ 'a.zip': zip })
  expect((await all()).map(({ id, version }) => `${id} ${version}`).sort()).toEqual(before)
})

it('deleting an archive keeps the contained documents of another tenant that has the same archive', async () => {
  const zip = makeZip([{ name: 'light.md', content: LIGHTHOUSE }])
  await add({ 'a.zip': zip })
  const other = (await test.engine.spaces.create(BOB, { name: 'N', slug: 'n' })).id
  await ingest(test.engine, BOB, other, { 'a.zip': zip })
  await until(async () => (await test.engine.documents.list(BOB, other, { limit: 10 })).items.length === 2)
  await test.engine.documents.delete(ADA, spaceId, [(await idOf('a.zip')) ?? ''])
  expect(await all()).toEqual([])
  expect((await test.engine.documents.list(BOB, other, { limit: 10 })).items).toHaveLength(2)
})

it('A35: nested archives share one limit of files across all levels', async () => {
  const files = (count: number, stem: string) =>
    Array.from({ length: count }, (_, index) => ({
      name: `${stem}${index}.md`,
      content: `# ${stem} ${index}\n\nText.`,
    }))
  const most = DEFAULT_LIMITS.containedFiles
  DEFAULT_LIMITS.containedFiles = 8
  try {
    const inner = (stem: string) => ({ name: `${stem}.zip`, content: makeZip(files(4, stem)) })
    await add({ 'a.zip': makeZip([inner('first'), inner('second'), ...files(1, 'own')]) })
  } finally {
    DEFAULT_LIMITS.containedFiles = most
  }
  expect(await all()).toHaveLength(8)
  const failed = (await all()).filter(({ parserStatus }) => parserStatus === 'failed')
  expect(failed.map(({ metadata }) => metadata.error)).toEqual([
    { code: 'limit-exceeded', message: expect.stringContaining('a.zip exceeds the limit of 8 files') },
  ])
})

it('an archive fails with quota-exceeded when its files exceed the quota of the space', async () => {
  await test.end()
  test = await startEngine({ quotas: { maxRawDocumentBytes: 3000 } })
  spaceId = (await test.engine.spaces.create(ADA, { name: 'N', slug: 'n' })).id
  await add({ 'a.zip': makeZip([{ name: 'a.md', content: `# A\n\n${'words '.repeat(2000)}` }]) })
  expect(await names()).toEqual(['a.zip failed'])
  expect((await all())[0]?.metadata.error).toMatchObject({ code: 'quota-exceeded' })
})
