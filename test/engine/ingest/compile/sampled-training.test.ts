import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { trainVectorSpace } from '../../../../src/engine/ingest/compile/training.js'
import { LSA_MAX_DOCUMENTS } from '../../../../src/engine/models/builtin/lsa-corpus.js'
import { parseModel } from '../../../../src/engine/models/builtin/lsa-file.js'
import { newId } from '../../../../src/lib/ids.js'
import { openSmallStore, type SmallStore } from '../../../helpers/store.js'
import { filledSpace, modelsOf } from './trained-spaces.js'

vi.mock('../../../../src/engine/models/builtin/lsa-trainer.js', () => import('./trained-here.js'))

const signal = new AbortController().signal

let store: SmallStore
beforeEach(async () => {
  store = await openSmallStore()
})
afterEach(() => store.end())

it('the model of a large space is trained on a sample of the entire space', async () => {
  const space = await filledSpace(store, 'subject0')
  const count = LSA_MAX_DOCUMENTS + 1
  store.run(
    `INSERT INTO nodes (key, id, space_key, doc_key, version_key, ordinal, title, text, section, outline_node, elements,
       start_offset, end_offset, page, kind, row_hash)
     WITH RECURSIVE counted(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counted WHERE n < ?)
     SELECT key + n, hex(randomblob(16)), space_key, doc_key, version_key, n, title, 'part' || (n / 2000) || ' side' || (n % 2),
       section, outline_node, elements, start_offset, end_offset, page, kind, row_hash FROM nodes JOIN counted`,
    count - 1,
  )
  store.run('UPDATE versions SET node_count = ?', count)
  const model = await trainVectorSpace(store.context, space, { id: newId() }, signal)
  expect(model?.trainedNodes).toBe(count)
  const { documents, terms, frequencies } = parseModel(modelsOf(store)[0]?.model ?? new Uint8Array())
  expect(documents).toBe(Math.ceil(count / 2))
  // Every second passage: each part of the space is equally represented.
  const ofPart = terms.flatMap((term, place) => (/^part\d$/.test(term) ? [frequencies[place]] : []))
  expect(ofPart.length).toBe(10)
  expect(Math.min(...ofPart.map(Number))).toBeGreaterThanOrEqual(999)
})
