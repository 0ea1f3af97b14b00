import { describe, expect, it } from 'vitest'
import { type RankedPassage, toEvidenceItem } from '../../../../src/engine/retrieval/query/evidence.js'
import type { PassageRow } from '../../../../src/engine/store/rows/queries.js'

const PASSAGE = {
  key: 7,
  doc_key: 3,
  id: 'node-1',
  title: 'Lamp',
  body: 'The lamp is lit.',
  section: '["House","Lamp"]',
  start_offset: 40,
  end_offset: 56,
  page: 12,
  ordinal: 5,
  kind: 'text',
  shows: null,
  document_id: 'doc-1',
  document_title: 'House rules',
  filename: 'house.pdf',
  version: 4,
  artifact_hash: 'sha256:aa',
  published_at: Date.UTC(2026, 0, 2, 3, 4, 5),
  document_date: null,
  author: null,
  source_id: null,
  source_url: null,
  external: 0,
} as unknown as PassageRow

const item = (passage: Partial<PassageRow> = {}, ranked: Partial<RankedPassage> = {}, freshness?: object) =>
  toEvidenceItem(
    { passage: { ...PASSAGE, ...passage }, final: 0.5, retrieval: 0.25, ...ranked },
    freshness as Parameters<typeof toEvidenceItem>[1],
  )

describe('an evidence item', () => {
  it('cites document, version, page, section and offsets', () => {
    expect(item().citations).toEqual([
      {
        documentAssetId: 'doc-1',
        documentVersion: 4,
        artifactHash: 'sha256:aa',
        pageNumber: 12,
        sectionPath: ['House', 'Lamp'],
        startOffset: 40,
        endOffset: 56,
      },
    ])
    expect(item({ page: null }).citations[0]).not.toHaveProperty('pageNumber')
  })

  it('contains the text, titles, filename and time of storage of its passage', () => {
    expect(item()).toMatchObject({
      nodeId: 'node-1',
      text: 'The lamp is lit.',
      metadata: {
        title: 'Lamp',
        documentTitle: 'House rules',
        filename: 'house.pdf',
        nodeKind: 'text',
        ordinal: 5,
        storedAt: '2026-01-02T03:04:05.000Z',
      },
    })
  })

  it('limits scores to 0…1 with four digits, and omits scores that were not measured', () => {
    expect(item({}, { final: 0.123456, retrieval: 1.5, rerank: -1 }).scores).toEqual({
      retrieval: 1,
      rerank: 0,
      final: 0.1235,
    })
    expect(item({}, { final: Number.NaN }).score).toBe(0)
    expect(item({}, { final: 0.98765 }).score).toBe(0.9877)
    expect(item().scores).toEqual({ retrieval: 0.25, final: 0.5 })
  })

  it('contains the freshness of its document if it is known, and the state of the local file', () => {
    expect(item().freshness).toBe('unknown')
    const stale = item({}, {}, { state: 'stale', score: 0.33333, file: 'changed' })
    expect(stale).toMatchObject({ freshness: 'stale', scores: { freshness: 0.3333 }, metadata: { file: 'changed' } })
    expect(item({}, {}, { state: 'fresh', score: 1 }).metadata).not.toHaveProperty('file')
  })

  it('shows whether the source is uploaded or external, and links only http and https addresses', () => {
    expect(item().metadata).toMatchObject({ trust: 'uploaded' })
    expect(item().metadata).not.toHaveProperty('sourceUrl')
    expect(item().metadata).not.toHaveProperty('sourceId')
    const page = item({ source_id: 'source-1', source_url: 'https://example.com/a', external: 1 })
    expect(page.metadata).toMatchObject({
      trust: 'external',
      sourceId: 'source-1',
      sourceUrl: 'https://example.com/a',
    })
    expect(page.citations[0]).toMatchObject({ sourceUrl: 'https://example.com/a' })
    for (const address of ['javascript:alert(1)', 'file:///etc/passwd', 'no address', 'xhttp://example.com'])
      expect(item({ source_url: address }).citations[0]).not.toHaveProperty('sourceUrl')
    expect(item({ source_url: 'http://example.com/b' }).citations[0]).toHaveProperty('sourceUrl')
  })
})
