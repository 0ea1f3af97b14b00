import fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { isLongJson, stringifyInSlices } from '../../../src/lib/json/stringify.js'

const at = { sliceUnits: 16, pause: async () => undefined }

const ODD = [
  ['__proto__ as a key', '{"__proto__":{"a":1},"b":"0123456789012345678901234567890123456789"}'],
  ['escapes at every border', `"${'\\u00e9\\n\\\\\\"'.repeat(20)}"`],
  ['characters of two, three and four bytes', JSON.stringify('aé漢😀'.repeat(20))],
  ['halves of characters, escaped', `"${'\\ud83d\\ude00'.repeat(20)}"`],
  [
    'blanks anywhere',
    ' [ 1 , { "a" : [ ] , "b" : "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx" } , [ ] , 12345678901234567890 ] ',
  ],
  ['brackets and quotes in text', JSON.stringify({ a: '}]{["\\'.repeat(10), b: [',', ':', '"'.repeat(40)] })],
  ['an empty object and array, far apart', `[{},${' '.repeat(40)}[]]`],
] as const

afterEach(() => vi.restoreAllMocks())

describe('JSON in slices', () => {
  it('serializes any value like JSON.stringify', async () => {
    const value = fc.oneof(fc.jsonValue({ maxDepth: 5 }), fc.string({ unit: 'binary', minLength: 20 }))
    await fc.assert(
      fc.asyncProperty(value, async (any) => {
        expect(Buffer.from(await stringifyInSlices(any, at)).toString()).toBe(JSON.stringify(any))
      }),
      { numRuns: 500 },
    )
  })

  it.each(ODD)('serializes %s', async (_, text) => {
    const value: unknown = JSON.parse(text)
    expect(Buffer.from(await stringifyInSlices(value, at)).toString()).toBe(JSON.stringify(value))
  })

  it('omits values that JSON does not have, like JSON.stringify', async () => {
    const value = { a: undefined, b: [undefined, () => 1], c: new Date(0), d: 'x'.repeat(40), e: () => 1 }
    expect(Buffer.from(await stringifyInSlices(value, at)).toString()).toBe(JSON.stringify(value))
  })

  it('never runs in one long slice, and lets other work run in between', async () => {
    const elements = Array.from({ length: 300 }, (_, id) => ({
      id,
      text: `text "${id}" of some length\n`,
      path: ['a', 'b'],
    }))
    const value = { text: 'long \\ text\n'.repeat(5000), elements, nested: [{ children: elements }] }
    const text = Buffer.from(JSON.stringify(value))
    const most = 2000
    let pauses = 0
    const slicing = { sliceUnits: most, pause: async () => void pauses++ }
    const stringify = vi.spyOn(JSON, 'stringify')
    const bytes = Buffer.from(await stringifyInSlices(value, slicing))
    expect(Math.max(...stringify.mock.results.map(({ value: piece }) => String(piece).length))).toBeLessThan(3 * most)
    expect(pauses).toBeGreaterThan(text.length / most / 2)
    expect(bytes.equals(text)).toBe(true)
  })

  it('counts as long if it has a long text or very many values', () => {
    expect(isLongJson({ items: Array.from({ length: 100 }, (_, id) => ({ id, name: `name ${id}` })) })).toBe(false)
    expect(isLongJson({ text: 'x'.repeat(300_000) })).toBe(true)
    expect(isLongJson(Array.from({ length: 60_000 }, () => 1))).toBe(true)
  })
})
