import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { JsonReader, JsonTooLarge } from '../../../src/lib/json/reader.js'

const LIMITS = { valueBytes: 1000, depth: 8, values: 50 }

async function* inPieces(text: string, size: number): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}
const readerOf = (text: string, size = 3, limits = LIMITS) => new JsonReader(inPieces(text, size), limits)

async function listOf(text: string, size?: number, limits?: typeof LIMITS): Promise<unknown[]> {
  const json = readerOf(text, size, limits)
  const found: unknown[] = []
  for await (const _ of json.readMembers()) found.push(await json.readValue())
  await json.expectEnd()
  return found
}

describe('the JSON reader', () => {
  it('reads what JSON.parse reads, wherever the text is split', async () => {
    const wide = { valueBytes: 1e6, depth: 64, values: 1e6 }
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.jsonValue()),
        fc.integer({ min: 1, max: 9 }),
        fc.integer({ min: 0, max: 2 }),
        async (list, size, indent) => {
          const text = JSON.stringify(list, undefined, indent)
          expect(await listOf(text, size, wide)).toEqual(JSON.parse(text))
        },
      ),
    )
  })

  it('yields a string in parts, with its escapes and surrogate pairs', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary' }), fc.integer({ min: 1, max: 7 }), async (text, size) => {
        let found = ''
        for await (const part of readerOf(JSON.stringify(text), size).readText()) found += part
        expect(found).toBe(text)
      }),
    )
  })

  it('descends into objects and skips values', async () => {
    const json = readerOf('{"a":[1,{"b":"]}"}],"c":"kept","d":null}')
    const found: unknown[] = []
    for await (const key of json.readKeys()) {
      if (key === 'c') found.push(await json.readValue())
      else await json.skip()
    }
    await json.expectEnd()
    expect(found).toEqual(['kept'])
  })

  it.each([
    '',
    '[',
    '[1',
    '[1,',
    '[1,]',
    '[,1]',
    '[1 2]',
    '[1]x',
    '{',
    '["a',
    '[01]',
    '[1}',
    '{"a":1}',
    '[tru]',
    '["a"b]',
  ])('refuses %j with a SyntaxError', async (text) => {
    await expect(listOf(text)).rejects.toThrow(SyntaxError)
  })

  it.each([
    ['a long value', `["${'x'.repeat(1000)}"]`],
    ['a deep value', `[${'['.repeat(9)}${']'.repeat(9)}]`],
    ['a value of many members', `[[${'0,'.repeat(50)}0]]`],
  ])('refuses %s above its limit', async (_, text) => {
    await expect(listOf(text)).rejects.toThrow(JsonTooLarge)
  })
})
