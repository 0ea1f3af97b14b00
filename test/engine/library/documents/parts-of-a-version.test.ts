import { createHash } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { compileBatch } from '../../../../src/engine/ingest/compile/pipeline.js'
import { getMultimodal, getOutline, getParseArtifact } from '../../../../src/engine/library/documents/derived.js'
import { getItemAsset } from '../../../../src/engine/library/documents/item-assets.js'
import type { StoredItem } from '../../../../src/engine/readers/stored-parts.js'
import type { CompiledOutlineNode } from '../../../../src/engine/store/compiled.js'
import { pack } from '../../../../src/engine/store/packed.js'
import type { SpaceRow } from '../../../../src/engine/store/rows/spaces.js'
import { ADA, BOB } from '../../../helpers/engine.js'
import { openSmallStore, passages, type SmallStore } from '../../../helpers/store.js'

let store: SmallStore
let space: SpaceRow
let id: string
beforeEach(async () => {
  store = await openSmallStore()
  space = store.createSpace()
  const work = await store.uploadAndClaim(space, { 'a.md': passages('one', 'two') })
  id = work[0]?.document.id ?? ''
  await compileBatch(store.context, space, work, { signal: new AbortController().signal })
})
afterEach(() => store.end())

const version = () => store.rows<Record<string, string & number>>('SELECT * FROM versions')[0]
const unpublish = () => store.run('UPDATE versions SET from_revision = NULL')
const notFound = { code: 'not-found' }

const BYTES = Buffer.from('a picture')
const SHA256 = createHash('sha256').update(BYTES).digest('hex')
const place = { parseElementId: 'e1', sectionPath: ['A'], sourceMetadata: {} }
const ITEMS: StoredItem[] = [
  { ...place, modality: 'image', caption: 'a cat', asset: { contentType: 'image/png', sha256: SHA256, size: 9 } },
  { ...place, modality: 'image', externalUri: 'https://x.example/cat.png' },
  { ...place, modality: 'image' },
  { ...place, modality: 'table', title: 'T', textPreview: '| a |' },
  { ...place, modality: 'page' },
  { ...place, modality: 'code' },
  { ...place, modality: 'image', asset: { contentType: 'image/png', sha256: SHA256, size: 33 * 1024 * 1024 } },
  { ...place, modality: 'image', asset: { contentType: 'image/png', sha256: 'other', size: 9 } },
]

async function withItems(): Promise<void> {
  store.run('UPDATE versions SET items = ?', await pack(ITEMS))
  for (const item of ['image-1', 'image-8'])
    store.run(
      'INSERT INTO item_assets (version_key, item_id, content_type, sha256, bytes) VALUES (?, ?, ?, ?, ?)',
      ...[version()?.key ?? 0, item, 'image/png', SHA256, BYTES],
    )
}

describe('the parse artifact of a version', () => {
  const artifact = (number: number, caller = ADA) =>
    getParseArtifact(store.db, caller, space.id, { documentId: id, version: number }).then((body) => body.value())

  it('lists all of its elements and is addressed by version number', async () => {
    store.run(`UPDATE versions SET metadata = '{"pageCount":3}', title = 'The title'`)
    const row = version()
    expect(await artifact(1)).toEqual({
      ...{ id: row?.artifact_id, documentAssetId: id, artifactHash: row?.artifact_hash, version: 1 },
      ...{ contentType: 'text', parser: 'native-markdown', metadata: { title: 'The title', pageCount: 3 } },
      createdAt: new Date(Number(row?.created_at)).toISOString(),
      elements: [
        expect.objectContaining({ id: 'e1', type: 'paragraph', text: 'one' }),
        expect.objectContaining({ id: 'e2', text: 'two', metadata: { startOffset: 5, endOffset: 8 } }),
      ],
    })
    await expect(artifact(2)).rejects.toMatchObject(notFound)
    await expect(artifact(1, BOB)).rejects.toMatchObject(notFound)
  })

  it('disappears with a deleted document', async () => {
    store.run('UPDATE documents SET deleted_at = 1')
    await expect(artifact(1)).rejects.toMatchObject(notFound)
  })
})

describe('the outline of a document', () => {
  const outline = (caller = ADA) => getOutline(store.db, caller, space.id, id).then((body) => body.value())

  it('names the passages of each section at every depth, in order', async () => {
    const section = (name: string, children: CompiledOutlineNode[] = []): CompiledOutlineNode => ({
      ...{ id: name, title: name, level: name.length, tocSource: 'heading', sectionPath: [name] },
      ...{ children, sourceElementIds: ['e1'] },
    })
    store.run(
      'UPDATE versions SET outline = ?',
      await pack([section('s1', [section('s12', [section('s123')])]), section('s2')]),
    )
    store.run("UPDATE nodes SET outline_node = 's123'")
    const row = version()
    const ids = store.rows<{ id: string }>('SELECT id FROM nodes ORDER BY ordinal').map((node) => node.id)
    const { nodes, ...rest } = await outline()
    expect(rest).toEqual({
      ...{ id: row?.outline_id, knowledgeSpaceId: space.id, documentAssetId: id, parseArtifactId: row?.artifact_id },
      ...{ artifactHash: row?.artifact_hash, outlineVersion: 'outline-1', version: 1, metadata: { title: row?.title } },
      createdAt: new Date(Number(row?.created_at)).toISOString(),
    })
    expect(nodes).toMatchObject([
      {
        ...{ id: 's1', childNodeIds: ['s12'], sourceNodeIds: [], metadata: {}, sourceElementIds: ['e1'] },
        children: [{ id: 's12', childNodeIds: ['s123'], children: [{ id: 's123', sourceNodeIds: ids, children: [] }] }],
      },
      { id: 's2', childNodeIds: [], children: [], sourceNodeIds: [] },
    ])
    await expect(outline(BOB)).rejects.toMatchObject(notFound)
  })

  it('names all of several thousand passages', async () => {
    const row = version()
    for (let ordinal = 2; ordinal < 2100; ordinal++)
      store.run(
        `INSERT INTO nodes SELECT ?, ?, space_key, doc_key, version_key, ?, title, text, section, outline_node, elements,
           start_offset, end_offset, page, kind, row_hash, shows FROM nodes WHERE ordinal = 0 AND version_key = ?`,
        ...[10_000 + ordinal, `018f0000-0000-7000-8000-${String(ordinal).padStart(12, '0')}`, ordinal, row?.key ?? 0],
      )
    const [first] = (await outline()).nodes
    expect(first?.sourceNodeIds).toHaveLength(2100)
    expect(first?.sourceNodeIds.at(-1)).toBe('018f0000-0000-7000-8000-000000002099')
    expect(new Set(first?.sourceNodeIds).size).toBe(2100)
  })

  it('exists from the first publication until deletion, even if the deletion comes between two reads', async () => {
    const { read } = store.db
    let reads = 0
    store.db.read = (async (program: never) => {
      if (++reads === 2) store.run('UPDATE documents SET deleted_at = 1')
      return await read.call(store.db, program)
    }) as typeof read
    await expect(outline()).rejects.toMatchObject(notFound)
    store.db.read = read
    store.run('UPDATE documents SET deleted_at = NULL')
    unpublish()
    await expect(outline()).rejects.toMatchObject(notFound)
  })
})

describe('the pictures and tables of a document', () => {
  it('list each item with its asset and enrichment', async () => {
    await withItems()
    const row = version()
    const { items, ...rest } = await getMultimodal(store.db, ADA, space.id, id).then((body) => body.value())
    expect(rest).toEqual({
      ...{ id: row?.items_id, knowledgeSpaceId: space.id, documentAssetId: id, parseArtifactId: row?.artifact_id },
      ...{ artifactHash: row?.artifact_hash, manifestVersion: 1, version: 1, metadata: {} },
      createdAt: new Date(Number(row?.created_at)).toISOString(),
    })
    const enriched = (asset: string, caption: string, ocr: string, tableStructure: string) => ({
      ...{ asset, caption, ocr, tableStructure, visualEmbedding: 'unsupported' },
    })
    expect(items.slice(0, 6)).toEqual([
      {
        ...{ ...place, id: 'image-1', modality: 'image', caption: 'a cat' },
        assetRef: { contentType: 'image/png', sha256: SHA256 },
        enrichment: enriched('provided', 'provided', 'missing', 'unsupported'),
      },
      {
        ...{ ...place, id: 'image-2', modality: 'image', assetRef: { uri: 'https://x.example/cat.png' } },
        enrichment: enriched('provided', 'missing', 'missing', 'unsupported'),
      },
      {
        ...{ ...place, id: 'image-3', modality: 'image' },
        enrichment: enriched('missing', 'missing', 'missing', 'unsupported'),
      },
      {
        ...{ ...place, id: 'table-4', modality: 'table', title: 'T', textPreview: '| a |' },
        assetRef: {
          variants: {
            csv: { contentType: 'text/csv' },
            json: { contentType: 'application/json' },
            md: { contentType: 'text/markdown' },
          },
        },
        enrichment: enriched('unsupported', 'missing', 'unsupported', 'provided'),
      },
      {
        ...{ ...place, id: 'page-5', modality: 'page' },
        enrichment: enriched('unsupported', 'missing', 'missing', 'unsupported'),
      },
      {
        ...{ ...place, id: 'code-6', modality: 'code' },
        enrichment: enriched('unsupported', 'missing', 'unsupported', 'unsupported'),
      },
    ])
    unpublish()
    await expect(getMultimodal(store.db, ADA, space.id, id).then((body) => body.value())).rejects.toMatchObject(
      notFound,
    )
  })

  it('return the bytes of a picture inside the document, and fail with a specific code for other items', async () => {
    await withItems()
    const asset = (item: string, variant?: string, caller = ADA) =>
      getItemAsset(store.context, caller, space.id, { documentId: id, itemId: item, variant })
    for (const variant of [undefined, 'original']) {
      const { bytes, contentType } = await asset('image-1', variant)
      expect([Buffer.from(bytes).toString(), contentType]).toEqual(['a picture', 'image/png'])
    }
    for (const [item, variant] of [
      ['image-1', 'small'],
      ['image-9', undefined],
      ['image-3', undefined],
      ['table-4', undefined],
      ['table-1', undefined],
    ])
      await expect(asset(item ?? '', variant)).rejects.toMatchObject(notFound)
    await expect(asset('image-2')).rejects.toMatchObject({ code: 'asset-external' })
    await expect(asset('image-7')).rejects.toMatchObject({ code: 'asset-too-large' })
    await expect(asset('image-8')).rejects.toMatchObject({ code: 'data-damaged' })
    await expect(asset('image-1', undefined, BOB)).rejects.toMatchObject(notFound)
    store.run('DELETE FROM item_assets')
    await expect(asset('image-1')).rejects.toMatchObject(notFound)
  })
})
