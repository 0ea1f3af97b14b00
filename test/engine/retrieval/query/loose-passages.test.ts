import { expect, it } from 'vitest'
import { PassageCache } from '../../../../src/engine/knowledge/index.js'
import { rankLoosePassages } from '../../../../src/engine/retrieval/query/loose-passages.js'
import type { PassageRow } from '../../../../src/engine/store/rows/queries.js'

function toRow(body: string, index: number): PassageRow {
  return {
    ...{ key: index + 1, doc_key: -1, id: String(index), title: 'Lease', body, section: '[]', start_offset: 0 },
    ...{ end_offset: body.length, page: null, kind: 'text', shows: null, ordinal: index, document_id: 'd' },
    ...{ filename: 'lease.md', document_title: 'Lease', version: 1, artifact_hash: '', published_at: 0 },
    ...{ document_date: null, author: null, source_id: null, source_url: null, external: 0 },
    ...{ ocr_pages: null, transcript_by: null },
  }
}

const BODIES = [
  'The deposit for the boathouse is nine hundred crowns.',
  'Either party may end the lease with a notice period of seven weeks.',
  'The roof of the boathouse is repaired by the owner.',
]
const rank = (query: string, bodies = BODIES, signal = new AbortController().signal) =>
  rankLoosePassages(bodies.map(toRow), { query, topK: 2, scoreThreshold: 0, cache: new PassageCache(), signal })

it('the passage with the words of the question is the first, with the words that it contains', async () => {
  const { ranked } = await rank('What is the notice period?')
  expect(ranked[0]?.passage.body).toBe(BODIES[1])
  expect(ranked[0]?.containedTerms).toEqual(['notic', 'period'])
  expect(ranked[0]?.final).toBeGreaterThan(0.1)
})

it('passages without a word of the question are left out, and equal ones appear once', async () => {
  expect((await rank('When does the ferry leave?')).ranked).toEqual([])
  const found = (await rank('boathouse')).ranked.map(({ passage }) => passage.ordinal)
  expect(found.sort()).toEqual([0, 2])
  expect((await rank('notice', [...BODIES, BODIES[1] ?? ''])).ranked).toHaveLength(1)
})

it('an abort ends the ranking', async () => {
  await expect(rank('notice', BODIES, AbortSignal.abort(new Error('stopped')))).rejects.toThrow('stopped')
})
