import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { KsError } from '../../../../src/contract/errors.js'
import { compileSearchPattern } from '../../../../src/engine/files/vfs/pattern.js'
import { makeSnippet } from '../../../../src/engine/files/vfs/snippet.js'
import { splitWindows } from '../../../../src/engine/files/vfs/windows.js'

function matches(q: string, text: string, from = 0): string[] {
  return [...compileSearchPattern(q).search(text, from)].flatMap(({ matches: found }) =>
    found.map(({ start, end }) => `${start}:${text.slice(start, end)}`),
  )
}

describe('literal search patterns', () => {
  it('ignore case unless they contain an upper-case letter', () => {
    expect(matches('fox', 'Fox fox FOX')).toEqual(['0:Fox', '4:fox', '8:FOX'])
    expect(matches('Fox', 'Fox fox FOX')).toEqual(['0:Fox'])
    expect(matches('élan', 'ÉLAN élan')).toEqual(['0:ÉLAN', '5:élan'])
    expect(matches('οδος', 'ΟΔΟΣ οδος')).toEqual(['0:ΟΔΟΣ', '5:οδος'])
  })

  it('match the special characters of regular expressions literally', () => {
    expect(matches('a.c[1]', 'abc[1] a.c[1]')).toEqual(['7:a.c[1]'])
  })

  it('match correctly if letters change their length with their case', () => {
    expect(matches('end', 'İİİ end')).toEqual(['4:end'])
  })

  it('match at every offset of a long text, including the boundaries of its search windows', () => {
    const text = 'x'.repeat(262_140) + 'needle'.repeat(3) + 'y'.repeat(300_000)
    expect(matches('needle', text)).toEqual(['262140:needle', '262146:needle', '262152:needle'])
    expect(matches('needle', text, 262_141)).toEqual(['262146:needle', '262152:needle'])
  })

  it('give the same matches as a regular expression search, from any start', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'B', 'b', 'İ', 'é'), minLength: 1, maxLength: 3 })
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('a', 'b', 'B', 'é', 'É') }), word, fc.nat(10), (text, q, from) => {
        const insensitive = q === q.toLowerCase()
        const plain = new RegExp(q, insensitive ? 'giu' : 'gu')
        plain.lastIndex = Math.min(from, text.length)
        const expected: string[] = []
        for (let m = plain.exec(text); m !== null; m = plain.exec(text)) expected.push(`${m.index}:${m[0]}`)
        expect(matches(q, text, Math.min(from, text.length))).toEqual(expected)
      }),
    )
  })
})

describe('regular expressions as search patterns', () => {
  it('match line by line, and respect case unless (?i) is set', () => {
    expect(matches('re:^b\\w+$', 'abc\nbcd\nBcd\n')).toEqual(['4:bcd'])
    expect(matches('re:(?i)BCD', 'bcd')).toEqual(['0:bcd'])
  })

  it('skip empty matches', () => {
    expect(matches('re:x*', 'axxb')).toEqual(['1:xx'])
  })

  it('match each occurrence once in a line longer than a search window', () => {
    const text = Array.from({ length: 20_000 }, (_, index) => `w${index} `).join('')
    const found = matches('re:\\bw1?99[0-9]\\b', text)
    expect(found.map((match) => match.split(':')[1])).toEqual([
      ...Array.from({ length: 10 }, (_, index) => `w99${index}`),
      ...Array.from({ length: 10 }, (_, index) => `w199${index}`),
    ])
    expect(matches('re:^w', text)).toEqual(['0:w'])
  })

  it('resume at a given offset, in the middle of a line', () => {
    const text = 'one two three\nfour two\n'
    expect(matches('re:two|four', text, 7)).toEqual(['14:four', '19:two'])
  })

  it.each([
    ['an empty expression', 're:'],
    ['an invalid expression', 're:('],
    ['a back-reference', 're:(a)\\1'],
    ['a look-ahead', 're:(?=a)'],
    ['a huge repeat', 're:a{1,1000000000}'],
    ['many large repeats', `re:${'.{1,1000}'.repeat(400)}`],
    ['nested repeats', 're:((abcdef){1,30}){1,30}'],
    ['deep nesting', `re:${'('.repeat(1900)}a${')'.repeat(1900)}`],
  ])('fail when they are compiled: %s', { timeout: 30_000 }, (_, q) => {
    expect(() => compileSearchPattern(q)).toThrow(KsError)
  })

  // A search that backtracks would take longer than the time limit.
  it('A70: advance by at most 16 KiB per search step, even for a hostile expression', { timeout: 30_000 }, () => {
    const hostile = [
      're:(a+)+$',
      're:(.*a){30}',
      're:(a|aa)*b',
      're:(?:a?){120}a{120}',
      're:(x+x+)+y',
      're:[a-z]{3}\\d{4}',
    ]
    for (const q of hostile) {
      const search = compileSearchPattern(q).search('a'.repeat(100_000), 0)[Symbol.iterator]()
      let { reached } = search.next().value
      for (let piece = 0; piece < 5; piece++) {
        const next = search.next().value.reached
        expect(next - reached, q).toBeLessThanOrEqual(16 * 1024)
        reached = next
      }
    }
  })
})

describe('the windows of a long searched text', () => {
  it('cover every offset of the text exactly once', () => {
    const text = fc.string({ unit: fc.constantFrom('a', '\n', 'bb', 'cccccccc'), maxLength: 80 })
    fc.assert(
      fc.property(text, fc.integer({ min: 8, max: 32 }), fc.nat(60), (value, size, from) => {
        const start = Math.min(from, value.length)
        let next = start
        for (const window of splitWindows(value, start, size)) {
          expect(window.firstMatch).toBe(next)
          expect(window.start).toBeLessThanOrEqual(window.firstMatch)
          expect(window.limit).toBeLessThanOrEqual(window.end)
          expect(window.end - window.start).toBeLessThanOrEqual(size)
          next = window.limit
        }
        expect(next).toBe(value.length)
      }),
    )
  })
})

describe('snippets of search results', () => {
  it('contain the match in one line of bounded length, without broken characters', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 600 }), fc.nat(), (text, seed) => {
        const start = seed % text.length
        const snippet = makeSnippet(text, { start, end: Math.min(text.length, start + 3) })
        expect(snippet.length).toBeLessThanOrEqual(162)
        expect(snippet).not.toMatch(/\n/)
        if (text.isWellFormed()) expect(snippet.isWellFormed()).toBe(true)
      }),
    )
    const text = `${'left '.repeat(60)}needle${' right'.repeat(60)}`
    expect(makeSnippet(text, { start: 300, end: 306 })).toMatch(/^….*left needle right.*…$/)
  })
})
