import { afterEach, describe, expect, it, vi } from 'vitest'
import { pack, unpack } from '../../../src/engine/storage/packed.js'

afterEach(() => vi.restoreAllMocks())

describe('reading a packed value', () => {
  it('yields to other work while it parses a long value in pieces', async () => {
    const elements = Array.from({ length: 8000 }, (_, id) => ({ id: `e${id}`, text: 'some words. '.repeat(30) }))
    const value = { text: elements.map(({ text }) => text).join('\n\n'), elements }
    const packed = await pack(value)
    let turns = 0
    let ended = false
    const count = () => {
      turns++
      if (!ended) setImmediate(count)
    }
    const parse = vi.spyOn(JSON, 'parse')
    setImmediate(count)
    const read = await unpack<typeof value>(packed)
    ended = true
    const longest = Math.max(...parse.mock.calls.map(([text]) => text.length))
    expect(longest).toBeLessThan(600_000)
    expect(turns).toBeGreaterThan(8)
    expect(read).toEqual(value)
  })

  it('fails with data-damaged for truncated bytes, long or short', async () => {
    const long = await pack(Array.from({ length: 100_000 }, (_, id) => `word ${id}`))
    for (const packed of [long, await pack(['a'])]) {
      const cut = packed.subarray(0, packed.length / 2)
      await expect(unpack(cut)).rejects.toThrow(expect.objectContaining({ code: 'data-damaged' }))
    }
  })
})
