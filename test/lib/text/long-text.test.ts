import { expect, it } from 'vitest'
import { joinText } from '../../../src/lib/text/long-text.js'

async function* parts(text: string, size: number): AsyncGenerator<string> {
  for (let at = 0; at < text.length; at += size) yield text.slice(at, at + size)
}

it('a long text returns what the methods of its string return', async () => {
  const text = `${'Ünder the 😀 quay\n'.repeat(80_000)}end`
  const long = await joinText(parts(text, 999))
  expect(typeof long).toBe('object')
  expect(long.length).toBe(text.length)
  for (const at of [0, 1, 11, 12, 777_777, text.length - 3, text.length + 5]) {
    expect(long.slice(at, at + 40)).toBe(text.slice(at, at + 40))
    expect(long.charCodeAt(at)).toBe(text.charCodeAt(at))
    expect(long.indexOf('\n', at)).toBe(text.indexOf('\n', at))
    expect(long.lastIndexOf('\n', at)).toBe(text.lastIndexOf('\n', at))
  }
  expect(long.indexOf('nowhere', 0)).toBe(-1)
  expect(typeof (await joinText(parts('short', 2)))).toBe('string')
})
