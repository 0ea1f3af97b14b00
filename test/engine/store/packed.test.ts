import { describe, expect, it } from 'vitest'
import { pack, unpack } from '../../../src/engine/store/packed.js'

describe('reading a packed value', () => {
  it('fails with data-damaged for truncated bytes, long or short', async () => {
    const long = await pack(Array.from({ length: 100_000 }, (_, id) => `word ${id}`))
    for (const packed of [long, await pack(['a'])]) {
      const cut = packed.subarray(0, packed.length / 2)
      await expect(unpack(cut)).rejects.toThrow(expect.objectContaining({ code: 'data-damaged' }))
    }
  })
})
