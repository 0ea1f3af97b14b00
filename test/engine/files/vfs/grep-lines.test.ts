import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { GrepListing } from '../../../../src/contract/gateway/fs.js'
import { TestSpace } from './space.js'

let space: TestSpace
beforeEach(() => {
  space = new TestSpace()
})
afterEach(() => space.close())

const POEM = ['one fox', 'two', 'three Fox, a fox', 'four', 'five', 'six foxes', 'seven'].join('\n')

function grep(q: string, more: object = {}) {
  const query = { path: '/sources', q, limit: 100, timeoutMs: 10_000, by: 'line', ...more } as const
  return space.fs.grep(space.caller, space.id, query)
}

async function grepPages(q: string, more: object) {
  const matches: GrepListing['matches'] = []
  let cursor: string | undefined
  do {
    const page = await grep(q, { ...more, cursor })
    matches.push(...page.matches)
    cursor = page.nextCursor
  } while (cursor !== undefined)
  return matches
}

const brief = (matches: GrepListing['matches']) => matches.map(({ line, column, text }) => [line, column, text])

describe('grep by lines', () => {
  it('returns each line once, with its number, the column of its first match, its text and its ranges', async () => {
    await space.add({ filename: 'poem.md', text: POEM })
    const { matches } = await grep('re:(?i)fox')
    expect(brief(matches)).toEqual([
      [1, 5, 'one fox'],
      [3, 7, 'three Fox, a fox'],
      [6, 5, 'six foxes'],
    ])
    expect(matches[1]?.spans?.map(({ start, end }) => matches[1]?.text?.slice(start, end))).toEqual(['Fox', 'fox'])
    expect(POEM.slice(matches[1]?.startOffset, matches[1]?.endOffset)).toBe('Fox')
  })

  it('returns the lines before and after each line, as far as the text has them', async () => {
    await space.add({ filename: 'poem.md', text: POEM })
    const { matches } = await grep('re:one|seven', { before: 1, after: 2 })
    expect(matches.map(({ before, after }) => [before, after])).toEqual([
      [[], ['two', 'three Fox, a fox']],
      [['six foxes'], []],
    ])
  })

  it('returns lines without a match if it is inverted, and whole words only on request', async () => {
    await space.add({ filename: 'poem.md', text: POEM })
    expect(brief((await grep('re:(?i)fox', { inverted: 'true' })).matches).map(([, , text]) => text)).toEqual([
      'two',
      'four',
      'five',
      'seven',
    ])
    expect((await grep('re:fox', { wholeWords: 'true' })).matches.map(({ line }) => line)).toEqual([1, 3])
    await space.add({ filename: 'umlaut.md', text: 'Straßen\nüber' })
    expect((await grep('re:ber|stra', { wholeWords: 'true' })).matches).toEqual([])
  })

  it('tries the later alternatives of a pattern whose first one ends inside a word', async () => {
    await space.add({ filename: 'words.md', text: 'foobar\nxfoo foobars\nfoo, foobar foo\nfoo_bar\na) b' })
    const find = async (q: string) =>
      (await grep(q, { wholeWords: 'true' })).matches.map(({ line, text, spans }) => [
        line,
        spans?.map(({ start, end }) => text?.slice(start, end)),
      ])
    expect(await find('re:foo|foobar')).toEqual([
      [1, ['foobar']],
      [3, ['foo', 'foobar', 'foo']],
    ])
    expect(await find('re:fo+?(?:bar)?')).toEqual(await find('re:foo|foobar'))
    expect(await find('foo')).toEqual([[3, ['foo', 'foo']]])
    expect(await find('re:\\Qa)')).toEqual([[5, ['a)']]])
    await expect(find('re:a)|(b')).rejects.toThrow('q is not an expression of the RE2 syntax')
  })

  it('never matches across lines, and finds empty lines', async () => {
    await space.add({ filename: 'gaps.md', text: 'a\n\nb\n' })
    expect((await grep('re:a\\s+b')).matches).toEqual([])
    expect(brief((await grep('re:^$')).matches)).toEqual([[2, 1, '']])
    expect(brief((await grep('re:^b')).matches)).toEqual([[3, 1, 'b']])
  })

  it('stops in each text after the requested number of lines', async () => {
    await space.add({ filename: 'a.md', text: 'fox\nfox\nfox' })
    await space.add({ filename: 'b.md', text: 'fox\nfox\nfox' })
    for (const limit of [1, 2, 3, 100]) {
      const matches = await grepPages('re:fox', { linesPerText: 2, limit })
      expect(matches.map(({ path, line }) => `${path.slice(-4)}:${line}`)).toEqual([
        'a.md:1',
        'a.md:2',
        'b.md:1',
        'b.md:2',
      ])
    }
  })

  it('returns each line once, for any page size and time limit', async () => {
    const text = Array.from({ length: 400 }, (_, index) => `line ${index} ${index % 3 === 0 ? 'fox' : ''}`).join('\n')
    await space.add({ filename: 'long.md', text })
    const whole = (await grep('re:fox', { limit: 1000 })).matches
    expect(whole).toHaveLength(134)
    for (const more of [{ limit: 1 }, { limit: 7 }, { limit: 1000, timeoutMs: 1 }])
      expect(await grepPages('re:fox', more)).toEqual(whole)
    expect(await grepPages('re:fox', { limit: 7, inverted: 'true' })).toHaveLength(400 - 134)
  })

  it('cuts a long line around its first match, and reports it once', async () => {
    const line = `${'x '.repeat(40_000)}needle ${'y '.repeat(40_000)}needle`
    await space.add({ filename: 'long.md', text: `first\n${line}\nlast` })
    const { matches } = await grep('re:needle|last')
    expect(matches.map((match) => [match.line, match.column])).toEqual([
      [2, 80_001],
      [3, 1],
    ])
    const [{ text = '', spans = [] } = {}] = matches
    expect(text.length).toBeLessThan(5000)
    expect([text.at(0), text.at(-1), text.slice(spans[0]?.start, spans[0]?.end)]).toEqual(['…', '…', 'needle'])
    expect((await grep('re:needle', { inverted: 'true' })).matches.map((match) => match.line)).toEqual([1, 3])
  })

  it('ends a page before its lines take many megabytes', async () => {
    await space.add({ filename: 'wide.md', text: `${`fox ${'z'.repeat(3000)}\n`.repeat(1000)}` })
    const first = await grep('re:fox', { limit: 1000 })
    expect(first.matches.length).toBeLessThan(500)
    expect(await grepPages('re:fox', { limit: 1000 })).toHaveLength(1000)
  })
})
