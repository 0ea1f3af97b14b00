import { afterEach, expect, it, vi } from 'vitest'
import { pack } from '../../../../src/engine/store/packed.js'
import { unpackVersion } from '../../../../src/engine/upkeep/integrity/artifacts.js'

afterEach(() => vi.restoreAllMocks())

it('unpacks a long version for a repair value by value, and lets other work run in between', async () => {
  const elements = Array.from({ length: 8000 }, (_, id) => ({ id: `e${id}`, text: 'some words. '.repeat(30) }))
  const value = { text: elements.map(({ text }) => text).join('\n\n'), elements }
  const [artifact, empty] = [await pack(value), await pack([])]
  let turns = 0
  let ended = false
  const count = () => {
    turns++
    if (!ended) setImmediate(count)
  }
  const parse = vi.spyOn(JSON, 'parse')
  setImmediate(count)
  const unpacked = await unpackVersion({ artifact, outline: empty, items: empty })
  ended = true
  const longest = Math.max(...parse.mock.calls.map(([text]) => text.length))
  expect(longest).toBeLessThan(600_000)
  expect(turns).toBeGreaterThan(8)
  expect(unpacked).toEqual({ artifact: value, outline: [], items: [] })
})
