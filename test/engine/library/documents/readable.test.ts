import { Readable } from 'node:stream'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { CreateSourceBody } from '../../../../src/contract/gateway/sources.js'
import { ADA, startEngine, type TestEngine } from '../../../helpers/engine.js'

const GRACE = { ...ADA, subject: 'grace' }
let running: TestEngine
let spaceId: string
let secret: string
let open: string

beforeEach(async () => {
  running = await startEngine()
  const { engine } = running
  spaceId = (await engine.spaces.create(ADA, { name: 'Notes', slug: 'notes' })).id
  const about: CreateSourceBody = {
    name: 'Vault',
    type: 'upload',
    uri: 'upload:vault',
    permissionScope: ['grace'],
    metadata: {},
  } as const
  const source = await engine.sources.create(GRACE, spaceId, about)
  secret = await send('secret.md', 'The code of the vault is changed every ninety days.', source.id)
  open = await send('open.md', 'The library opens at noon.')
})
afterEach(() => running.end())

async function send(
  filename: string,
  text: string,
  sourceId?: string,
  caller = sourceId === undefined ? ADA : GRACE,
): Promise<string> {
  const { documents } = running.engine
  const upload = await documents.upload(caller, spaceId, { many: false })
  await upload.add({ filename, content: Readable.from([Buffer.from(text)]) })
  const [accepted] = await upload.commit(sourceId === undefined ? {} : { sourceId })
  await documents.settled(caller, spaceId, accepted!)
  return accepted!.asset.id
}

test('a document of a restricted source is in no list of other readers and answers like an unknown one', async () => {
  const { documents, queries } = running.engine
  const page = { limit: 50 }
  expect((await documents.list(ADA, spaceId, page)).items.map(({ id }) => id)).toEqual([open])
  expect((await documents.list(GRACE, spaceId, page)).items.map(({ id }) => id).sort()).toEqual([secret, open].sort())
  expect((await documents.list(ADA, spaceId, { limit: 1 })).nextCursor).toBeUndefined()
  const reads = [
    () => documents.get(ADA, spaceId, secret),
    () => documents.parseArtifact(ADA, spaceId, secret, 1).then((body) => body.value()),
    () => documents.outline(ADA, spaceId, secret).then((body) => body.value()),
    () => documents.multimodal(ADA, spaceId, secret).then((body) => body.value()),
    () => documents.itemAsset(ADA, spaceId, { documentId: secret, itemId: 'table-1' }),
    () =>
      queries.start(
        ADA,
        { knowledgeSpaceId: spaceId, query: 'vault', activeDocumentIds: [secret], activeEntityIds: [] },
        new AbortController().signal,
      ),
  ]
  for (const read of reads) await expect(read()).rejects.toMatchObject({ code: 'not-found' })
  expect((await documents.get(GRACE, spaceId, secret)).filename).toBe('secret.md')
})

test('the virtual file system hides a document of a restricted source from other readers', async () => {
  const { fs } = running.engine
  for (const path of ['/sources', '/knowledge'] as const) {
    const seen = async (caller: typeof ADA) =>
      JSON.stringify(await fs.tree(caller, spaceId, { path, limit: 100, depth: 8 }))
    expect(await seen(ADA)).not.toContain('secret')
    expect(await seen(GRACE)).toContain('secret.md')
    const grep = (caller: typeof ADA) => fs.grep(caller, spaceId, { path, q: 'ninety', limit: 10, timeoutMs: 2000 })
    expect((await grep(ADA)).matches).toEqual([])
    expect((await grep(GRACE)).matches).toHaveLength(1)
  }
  const path = '/knowledge/documents/secret.md'
  await expect(fs.ls(ADA, spaceId, { path, limit: 10 })).rejects.toMatchObject({ code: 'not-found' })
  expect((await fs.ls(GRACE, spaceId, { path, limit: 10 })).items).toHaveLength(1)
})
