import { afterEach, beforeEach, expect, it } from 'vitest'
import { compileBatch } from '../../../../src/engine/ingest/compile/pipeline.js'
import { trainVectorSpace } from '../../../../src/engine/ingest/compile/training.js'
import { newId } from '../../../../src/lib/ids.js'
import { openSmallStore, passages, type SmallStore } from '../../../helpers/store.js'

const { signal } = new AbortController()
const PASSAGES = 200

let store: SmallStore
beforeEach(async () => {
  store = await openSmallStore()
})
afterEach(() => store.end())

it('a model that is trained on a sample of the passages records the size of the sample', async () => {
  const space = store.createSpace()
  const text = passages(
    ...Array.from({ length: PASSAGES }, (_, n) => `The harbour of port${n % 7} has berth${n % 11} and quay${n % 13}.`),
  )
  await compileBatch(store.context, space, await store.uploadAndClaim(space, { 'a.md': text }), { signal })
  const train = (most?: number) =>
    trainVectorSpace(store.context, store.reload(space), { id: newId(), maxTexts: most }, signal)
  expect((await train(60))?.trainedNodes).toBe(PASSAGES / 4)
  expect((await train(PASSAGES))?.trainedNodes).toBe(PASSAGES)
  expect((await train())?.trainedNodes).toBe(PASSAGES)
})
