import { Readable } from 'node:stream'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { exportBundle, importBundle } from '../../../helpers/bundles.js'
import { ADA, ask, ingest, startEngine, type TestEngine } from '../../../helpers/engine.js'
import { until } from '../../../helpers/until.js'
import { makeZip } from '../../readers/read.js'
import { makeMail } from './inside-files.js'

const LIGHTHOUSE = '# Lighthouse\n\nThe lighthouse of Westerheversand was built in 1908.\n'
const MAIL = makeMail('The trip', 'See the archive.', [
  { name: 'notes.zip', content: makeZip([{ name: 'a/light.md', content: LIGHTHOUSE }]) },
])
const GRACE = { tenant: 'tenant-a', subject: 'grace' }

let test: TestEngine
let spaceId: string

beforeEach(async () => {
  test = await startEngine()
  spaceId = (await test.engine.spaces.create(ADA, { name: 'N', slug: 'n' })).id
})
afterEach(() => test.end())

const all = async (caller = ADA, engine = test.engine) =>
  (await engine.documents.list(caller, spaceId, { limit: 100 })).items
const whole = async (caller = ADA) =>
  await until(async () => {
    const items = await all(caller)
    return items.length === 3 && items.every(({ parserStatus }) => parserStatus === 'parsed')
  })
const names = async (path: string) =>
  (await test.engine.fs.ls(ADA, spaceId, { path, limit: 100 })).items.map(({ kind, name }) =>
    kind === 'directory' ? `${name}/` : name,
  )

it('contained documents of a mail appear in a folder with the name of the mail, next to it', async () => {
  await ingest(test.engine, ADA, spaceId, { 'in/mail.eml': MAIL })
  await whole()
  expect(await names('/sources/uploads/in')).toEqual(['mail.eml/', expect.stringMatching(/^mail\.eml~[0-9a-f]{8}$/)])
  expect(await names('/sources/uploads/in/mail.eml/notes.zip/a')).toEqual(['light.md'])
})

it('a citation of a document in a mail has a file name that begins with the name of the mail', async () => {
  await ingest(test.engine, ADA, spaceId, { 'mail.eml': MAIL })
  await whole()
  const { done } = await ask(test.engine, ADA, spaceId, 'When was the lighthouse of Westerheversand built?')
  expect(done.metadata?.evidenceBundle?.items[0]?.metadata.filename).toBe('mail.eml/notes.zip/a/light.md')
})

it('contained documents belong to the source of their container and to its readers', async () => {
  const about = { name: 'Private', type: 'upload' as const, uri: 'u', permissionScope: ['grace'], metadata: {} }
  const source = await test.engine.sources.create(GRACE, spaceId, about)
  const upload = await test.engine.documents.upload(GRACE, spaceId, { many: true })
  await upload.add({ filename: 'mail.eml', content: Readable.from([MAIL]) })
  await upload.commit({ sourceId: source.id })
  await whole(GRACE)
  expect((await all(GRACE)).map(({ sourceId }) => sourceId)).toEqual([source.id, source.id, source.id])
  expect(await all()).toEqual([])
  expect((await ask(test.engine, ADA, spaceId, 'When was the lighthouse built?')).answer).not.toContain('1908')
})

it('contained documents keep their parents in a bundle, and after the import they are deleted with them', async () => {
  await ingest(test.engine, ADA, spaceId, { 'mail.eml': MAIL })
  await whole()
  const bundle = await exportBundle(test.engine, ADA, [spaceId])
  const other = await startEngine()
  try {
    await importBundle(other.engine, ADA, bundle)
    const parents = async (engine = test.engine) =>
      (await all(ADA, engine)).map(({ id, parentDocumentId }) => [id, parentDocumentId])
    expect(await parents(other.engine)).toEqual(await parents())
    const mail = (await all()).find(({ filename }) => filename === 'mail.eml')?.id ?? ''
    await other.engine.documents.delete(ADA, spaceId, [mail])
    expect(await all(ADA, other.engine)).toEqual([])
  } finally {
    await other.end()
  }
})
