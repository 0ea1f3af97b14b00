import { createHash } from 'node:crypto'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { ContainedFileReceiver } from '../../../../src/engine/library/documents/receive-contained.js'
import { ADA } from '../../../helpers/engine.js'
import { openSmallStore, type SmallStore } from '../../../helpers/store.js'

let store: SmallStore
beforeEach(async () => {
  store = await openSmallStore()
})
afterEach(() => store.end())

const PIECE = Buffer.alloc(40_000, 'x')

it('a contained file above the limit fails, and its last pieces are not stored as the complete file', async () => {
  store.context.options.limits.uploadBytes = 100_000
  const received = new ContainedFileReceiver(store.context, ADA.tenant)
  received.begin(0)
  const taken = async () => {
    for (let piece = 0; piece < 20; piece++) await received.write(0, PIECE)
    await received.end(0, true)
  }
  await expect(taken()).rejects.toMatchObject({ code: 'upload-too-large' })
  await received.discard()
  expect(store.rows('SELECT 1 FROM objects')).toEqual([])
})

it('a contained file that starts again drops the pieces received before', async () => {
  const received = new ContainedFileReceiver(store.context, ADA.tenant)
  received.begin(0)
  await received.write(0, PIECE)
  received.begin(0)
  await received.write(0, Buffer.from('all of it'))
  await received.end(0, true)
  await received.finish()
  expect(store.rows('SELECT sha256 FROM objects')).toEqual([
    { sha256: createHash('sha256').update('all of it').digest('hex') },
  ])
})
