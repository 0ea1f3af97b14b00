import { createHash } from 'node:crypto'
import { rmSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { OutlineNode } from '../../../../src/contract/gateway/document-parts.js'
import { ADA, BOB, ingest, startEngine, type TestEngine, uploadOne } from '../../../helpers/engine.js'
import { until } from '../../../helpers/until.js'

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const GUIDE = `# Guide

How to begin.

${Array.from({ length: 900 }, (_, n) => `Step ${n} is done.`).join(' ')}

## Prices

| fee | euro |
|---|---|
| small | 3 |
| large | 5 |

## Set up

### Linux

Run this:

\`\`\`sh
make install
\`\`\`

### Windows

![a window](https://pictures.example/window.png)
`
const ALL = { activeDocumentIds: [], activeEntityIds: [] }
const NOT_FOUND = { code: 'not-found' }

let test: TestEngine
let spaceId: string

beforeEach(async () => {
  test = await startEngine()
  spaceId = (await test.engine.spaces.create(ADA, { name: 'N', slug: 'n' })).id
})
afterEach(() => test.end())

const titles = (nodes: OutlineNode[]): unknown[] => nodes.map(({ title, children }) => [title, ...titles(children)])
const flat = (nodes: OutlineNode[]): OutlineNode[] => nodes.flatMap((node) => [node, ...flat(node.children)])

describe('a table of a document', () => {
  const tableOf = async (documentId: string) => {
    const { items } = await test.engine.documents.multimodal(ADA, spaceId, documentId).then((body) => body.value())
    const item = items.find(({ modality }) => modality === 'table')
    const form = async (variant: string): Promise<string> => {
      const asset = await test.engine.documents.itemAsset(ADA, spaceId, { documentId, itemId: item?.id ?? '', variant })
      return Buffer.from(asset.bytes).toString()
    }
    return { item, form }
  }

  it('can be read as CSV, JSON and Markdown, and in no other form', async () => {
    const [{ asset }] = await ingest(test.engine, ADA, spaceId, { 'guide.md': GUIDE })
    const { item, form } = await tableOf(asset.id)
    expect(Object.keys(item?.assetRef?.variants ?? {})).toEqual(['csv', 'json', 'md'])
    expect(await form('csv')).toBe('fee,euro\r\nsmall,3\r\nlarge,5\r\n')
    expect(JSON.parse(await form('json'))).toMatchObject({
      headerRows: 1,
      rows: [
        ['fee', 'euro'],
        ['small', '3'],
        ['large', '5'],
      ],
    })
    expect(await form('md')).toBe('| fee | euro |\n| --- | --- |\n| small | 3 |\n| large | 5 |\n')
    await expect(form('xlsx')).rejects.toMatchObject(NOT_FOUND)
    await expect(form('original')).rejects.toMatchObject(NOT_FOUND)
  })

  it('forms one table from its parts, whichever part is requested', async () => {
    const rows = Array.from({ length: 1201 }, (_, n) => `row ${n},${n}`)
    const [{ asset }] = await ingest(test.engine, ADA, spaceId, { 'long.csv': ['name,count', ...rows].join('\n') })
    const { items } = await test.engine.documents.multimodal(ADA, spaceId, asset.id).then((body) => body.value())
    expect(items.map(({ sourceMetadata }) => sourceMetadata.part)).toEqual([1, 2, 3])
    for (const { id } of items) {
      const { bytes } = await test.engine.documents.itemAsset(ADA, spaceId, {
        documentId: asset.id,
        itemId: id,
        variant: 'csv',
      })
      expect(Buffer.from(bytes).toString().trimEnd().split('\r\n')).toEqual(['name,count', ...rows])
    }
  })
})

describe('derived content of a document', () => {
  it('includes the outline, whose sections name children and passages in reading order', async () => {
    const [{ asset }] = await ingest(test.engine, ADA, spaceId, { 'guide.md': GUIDE })
    const outline = await test.engine.documents.outline(ADA, spaceId, asset.id).then((body) => body.value())
    expect(titles(outline.nodes)).toEqual([['Guide', ['Prices'], ['Set up', ['Linux'], ['Windows']]]])
    const sections = flat(outline.nodes)
    for (const { childNodeIds, children } of sections) expect(childNodeIds).toEqual(children.map(({ id }) => id))
    const passages = sections.flatMap(({ sourceNodeIds }) => sourceNodeIds)
    expect(passages.length).toBeGreaterThan(5)
    expect(new Set(passages).size).toBe(passages.length)
    const { items } = await test.engine.queries.search(ADA, spaceId, { query: 'make install fee', limit: 20, ...ALL })
    for (const { nodeId } of items) expect(passages).toContain(nodeId)
    const artifact = await test.engine.documents
      .parseArtifact(ADA, spaceId, asset.id, outline.version)
      .then((body) => body.value())
    expect(outline).toMatchObject({
      ...{ knowledgeSpaceId: spaceId, documentAssetId: asset.id, version: 1, metadata: { title: 'Guide' } },
      ...{ parseArtifactId: artifact.id, artifactHash: artifact.artifactHash },
    })
    await expect(
      test.engine.documents.outline(BOB, spaceId, asset.id).then((body) => body.value()),
    ).rejects.toMatchObject(NOT_FOUND)
  })

  it('includes tables, code and pictures with their properties', async () => {
    const inside = `![a dot](data:image/png;base64,${PIXEL})`
    const [{ asset }] = await ingest(test.engine, ADA, spaceId, { 'guide.md': `${GUIDE}\n${inside}\n` })
    const { items } = await test.engine.documents.multimodal(ADA, spaceId, asset.id).then((body) => body.value())
    const known = items.map(({ modality, enrichment }) => [modality, ...Object.values(enrichment)])
    expect(known).toEqual([
      // Asset, caption, text inside, cells of the table, its vector.
      ['table', 'unsupported', 'missing', 'unsupported', 'provided', 'unsupported'],
      ['code', 'unsupported', 'missing', 'unsupported', 'unsupported', 'unsupported'],
      ['image', 'provided', 'provided', 'missing', 'unsupported', 'unsupported'],
      ['image', 'provided', 'provided', 'missing', 'unsupported', 'unsupported'],
    ])
    const [table, , outside, held] = items
    const form = (contentType: string) => ({ contentType })
    const variants = { csv: form('text/csv'), json: form('application/json'), md: form('text/markdown') }
    const sha256 = createHash('sha256').update(Buffer.from(PIXEL, 'base64')).digest('hex')
    expect(items.map(({ assetRef }) => assetRef)).toEqual([
      ...[{ variants }, undefined, { uri: 'https://pictures.example/window.png' }],
      { contentType: 'image/png', sha256 },
    ])
    const open = (id = '', variant?: string) =>
      test.engine.documents.itemAsset(ADA, spaceId, { documentId: asset.id, itemId: id, variant })
    for (const variant of [undefined, 'original']) {
      const { bytes, contentType } = await open(held?.id, variant)
      expect([Buffer.from(bytes).toString('base64'), contentType]).toEqual([PIXEL, 'image/png'])
    }
    await expect(open(held?.id, 'small')).rejects.toMatchObject(NOT_FOUND)
    await expect(open(table?.id)).rejects.toMatchObject(NOT_FOUND)
    await expect(open('none')).rejects.toMatchObject(NOT_FOUND)
    await expect(open(outside?.id)).rejects.toMatchObject({ code: 'asset-external' })
  })

  it('does not exist before publication, then belongs to the newest version', async () => {
    const [{ asset: never }] = await ingest(test.engine, ADA, spaceId, { 'empty.md': '' })
    const { documents } = test.engine
    for (const read of [documents.outline, documents.multimodal])
      await expect(read(ADA, spaceId, never.id)).rejects.toMatchObject(NOT_FOUND)
    await expect(documents.parseArtifact(ADA, spaceId, never.id, 1).then((body) => body.value())).rejects.toMatchObject(
      NOT_FOUND,
    )
    const [{ asset }] = await ingest(test.engine, ADA, spaceId, { 'guide.md': GUIDE })
    const { bulkJobId } = await documents.reindex(ADA, spaceId, { documentIds: [asset.id] })
    await until(async () => (await test.engine.jobs.bulk(ADA, bulkJobId)).status === 'completed')
    expect((await documents.outline(ADA, spaceId, asset.id).then((body) => body.value())).version).toBe(2)
    expect((await documents.multimodal(ADA, spaceId, asset.id).then((body) => body.value())).version).toBe(2)
    expect((await documents.parseArtifact(ADA, spaceId, asset.id, 2).then((body) => body.value())).version).toBe(2)
    await expect(documents.parseArtifact(ADA, spaceId, asset.id, 3).then((body) => body.value())).rejects.toMatchObject(
      NOT_FOUND,
    )
  })
})

it('the list of documents shows each document once, page by page, and none of other spaces and tenants', async () => {
  const files = Object.fromEntries(Array.from({ length: 5 }, (_, n) => [`${n}.md`, `# Note ${n}\n\nA line.\n`]))
  await ingest(test.engine, ADA, spaceId, files)
  const { id: other } = await test.engine.spaces.create(ADA, { name: 'O', slug: 'o' })
  await ingest(test.engine, ADA, other, { 'other.md': GUIDE })
  const pages: string[][] = []
  let cursor: string | undefined
  do {
    const page = await test.engine.documents.list(ADA, spaceId, { limit: 2, cursor })
    pages.push(page.items.map(({ filename }) => filename))
    cursor = page.nextCursor
  } while (cursor !== undefined)
  expect(pages).toEqual([['0.md', '1.md'], ['2.md', '3.md'], ['4.md']])
  expect((await test.engine.documents.list(ADA, spaceId, { limit: 5 })).nextCursor).toBeUndefined()
  await expect(test.engine.documents.list(BOB, spaceId, { limit: 5 })).rejects.toMatchObject(NOT_FOUND)
})

it('the check before an upload reports for each file what the upload would do', async () => {
  const files = { 'a.md': GUIDE, 'lost.md': `${GUIDE}\nLost.\n`, 'short.md': `${GUIDE}\nShort.\n`, 'empty.md': '' }
  const accepted = await ingest(test.engine, ADA, spaceId, files)
  const [a, lost, short, empty] = accepted.map(({ asset }) => asset)
  if (a === undefined || lost === undefined || short === undefined || empty === undefined) throw new Error('too few')
  rmSync(join(test.dataDir, 'objects', lost.objectKey))
  truncateSync(join(test.dataDir, 'objects', short.objectKey), 10)
  const many = Array.from({ length: 70 }, (_, n) => ({ filename: `new-${n}.md`, sha256: a.sha256 }))
  const { items } = await test.engine.documents.check(ADA, spaceId, {
    items: [...[a, lost, short, empty].map(({ filename, sha256 }) => ({ filename, sha256 })), ...many],
  })
  expect(items.slice(0, 4)).toEqual([
    { filename: 'a.md', status: 'unchanged', documentId: a.id, parserStatus: 'parsed' },
    { filename: 'lost.md', status: 'changed', documentId: lost.id },
    { filename: 'short.md', status: 'changed', documentId: short.id },
    { filename: 'empty.md', status: 'failed', documentId: empty.id, parserStatus: 'failed', error: expect.any(String) },
  ])
  expect(items.slice(4)).toEqual(many.map(({ filename }) => ({ filename, status: 'new' })))
  const named = await test.engine.documents.check(ADA, spaceId, {
    items: [{ filename: './a.md', sha256: '0'.repeat(64) }],
  })
  expect(named.items).toEqual([{ filename: './a.md', status: 'changed', documentId: a.id }])
  const elsewhere = { sourceId: '018f22aa-0000-7000-8000-000000000000', items: [] }
  await expect(test.engine.documents.check(ADA, spaceId, elsewhere)).rejects.toMatchObject(NOT_FOUND)
})

it('a deletion reports what it removed per document, and keeps bytes that another document uses', async () => {
  const [first, twin] = await ingest(test.engine, ADA, spaceId, { 'a.md': GUIDE, 'b.md': GUIDE })
  const nodes = flat(
    (await test.engine.documents.outline(ADA, spaceId, first.asset.id).then((body) => body.value())).nodes,
  )
  const passages = nodes.flatMap(({ sourceNodeIds }) => sourceNodeIds).length
  const remove = async (id: string) => (await test.engine.documents.delete(ADA, spaceId, [id, id])).items
  expect(await remove(first.asset.id)).toMatchObject([
    { status: 'deleted', objectDeleted: false, nodesDeleted: passages, artifactsDeleted: 1 },
  ])
  expect(await remove(first.asset.id)).toMatchObject([{ status: 'not_found' }])
  expect(await remove(twin.asset.id)).toMatchObject([
    { status: 'deleted', objectDeleted: true, nodesDeleted: passages },
  ])
  expect((await test.engine.documents.list(ADA, spaceId, { limit: 5 })).items).toEqual([])
})

it('a deletion keeps bytes that a workspace file uses', async () => {
  const [{ asset }] = await ingest(test.engine, ADA, spaceId, { 'a.md': GUIDE })
  await test.engine.fs.write(ADA, spaceId, { path: '/workspaces/plan/guide.md', content: GUIDE })
  const { items } = await test.engine.documents.delete(ADA, spaceId, [asset.id])
  expect(items).toMatchObject([{ status: 'deleted', objectDeleted: false }])
  const { content } = await test.engine.fs.cat(ADA, spaceId, {
    ...{ path: '/workspaces/plan/guide.md', offset: 0, maxBytes: 100_000 },
  })
  expect(content).toBe(GUIDE)
})

it('a document deleted during compilation stays unpublished, and its job is canceled', async () => {
  const { asset, compilationJob } = await uploadOne(test.engine, ADA, spaceId, { filename: 'a.md', text: GUIDE })
  await test.engine.documents.delete(ADA, spaceId, [asset.id])
  await until(async () => (await test.engine.jobs.get(ADA, compilationJob.id)).completedAt !== undefined)
  expect((await test.engine.jobs.get(ADA, compilationJob.id)).stage).toBe('canceled')
  await expect(test.engine.documents.get(ADA, spaceId, asset.id)).rejects.toMatchObject(NOT_FOUND)
  expect((await test.engine.queries.search(ADA, spaceId, { query: 'make install', limit: 5, ...ALL })).items).toEqual(
    [],
  )
})
