import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type AnalysedPassage,
  analysePassage,
  type DerivedPassage,
  PassageCache,
  termHash,
} from '../../../../src/engine/knowledge/derived/passage.js'
import { forEachTermOfParts } from '../../../../src/lib/text/analyze.js'
import { splitSentences } from '../../../../src/lib/text/sentences.js'

/** The terms of a passage as plain lists, computed independently of the code under test. */
function plain({ title, body }: DerivedPassage) {
  // Title and sentences together decide the language.
  const parts: number[][] = [[]]
  const sources = [title, ...splitSentences(body).map(({ start, end }) => body.slice(start, end))]
  forEachTermOfParts(
    sources,
    (term) => parts.at(-1)?.push(termHash(term)),
    () => parts.push([]),
  )
  const [named = [], ...said] = parts
  const sentences = said.filter((sentence) => sentence.length > 0)
  let end = 0
  return { title: named, body: sentences.flat(), ends: sentences.map(({ length }) => (end += length)) }
}

function unpacked({ words, title, body, ends, end }: AnalysedPassage) {
  return { title: [...words.slice(title, body)], body: [...words.slice(body, ends)], ends: [...words.slice(ends, end)] }
}

function passageOf(key: number, words = 3 + (key % 5) * 7): DerivedPassage {
  const text = Array.from({ length: words }, (_, place) => `word${key}x${place}${place % 6 === 5 ? '.' : ''}`)
  return { key, title: `Title ${key}`, body: text.join(' ') }
}

/** The same passage, with a flag that tells whether its text was read. */
function watched(passage: DerivedPassage): { passage: DerivedPassage; read: () => boolean } {
  let read = false
  const { key, title, body } = passage
  return {
    passage: {
      key,
      title,
      get body() {
        read = true
        return body
      },
    },
    read: () => read,
  }
}

function remembers(cache: PassageCache, passage: DerivedPassage): boolean {
  const { passage: asked, read } = watched(passage)
  cache.get(asked)
  return !read()
}

describe('the terms of a passage', () => {
  it('equal an independent analysis sentence by sentence, for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.lorem({ mode: 'sentences', maxCount: 5 }), (title, body) => {
        const passage = { key: 1, title, body: `${title} ${body}` }
        expect(unpacked(analysePassage(passage))).toEqual(plain(passage))
      }),
    )
  })

  it('equal an independent analysis for several languages, identifiers, numbers and contractions', () => {
    const said = [
      "It costs 1,577 dollars, and the reader’s ticket isn't valid for readPart() or snake_case_names. DNAs are stable.",
      'Die Gebühren für das Parken sind hoch und werden jährlich erhöht. Der Hund ist nicht da.',
      'Le chat ne dort pas, mais il est sur la table. Les élèves ne sont pas contents.',
      'Il cane non è nella casa, ma dorme sotto il tavolo che abbiamo comprato.',
      'Кошка спит на столе. Собака не спит.',
      '灯台は1908年に建てられました。',
      'x_ _x 12.5% a--b e.g. naïve ﬁnance ʼtis',
    ]
    const texts = fc.array(fc.constantFrom(...said, '\n\n', ' ', 'Wort', 'word', '-'), { maxLength: 8 })
    fc.assert(
      fc.property(fc.constantFrom(...said, 'Notes'), texts, (title, parts) => {
        const passage = { key: 1, title, body: parts.join(' ') }
        expect(unpacked(analysePassage(passage))).toEqual(plain(passage))
      }),
    )
  })

  it('stay correct for more words than the cache of words can keep', () => {
    for (let from = 0; from < 120_000; from += 4000) {
      const words = Array.from({ length: 4000 }, (_, place) => `w${(from + place) * 7919}`)
      const passage = { key: 1, title: 'Words', body: words.join(' ') }
      expect(unpacked(analysePassage(passage))).toEqual(plain(passage))
    }
  })

  it('stay correct while their passages are cached, evicted, analysed again and used by a query', () => {
    // Odd keys exceed 32 bits.
    const key = fc.integer({ min: 0, max: 60 }).map((low) => (low % 2 === 0 ? low : low * 2 ** 33 + 2 ** 31))
    fc.assert(
      fc.property(fc.array(key, { minLength: 200, maxLength: 600 }), (asked) => {
        const cache = new PassageCache(16_000)
        const held = asked.map((one) => ({ passage: passageOf(one), analysed: cache.get(passageOf(one)) }))
        for (const { passage, analysed } of held) expect(unpacked(analysed)).toEqual(plain(passage))
      }),
      { numRuns: 30 },
    )
  })
})

describe('the cache of analysed passages', () => {
  it('avoids repeated analysis and evicts the oldest passages', () => {
    const cache = new PassageCache(64_000)
    for (let key = 1; key <= 2000; key++) cache.get(passageOf(key))
    expect(remembers(cache, passageOf(2000))).toBe(true)
    expect(remembers(cache, passageOf(1))).toBe(false)
  })

  it('keeps passages that are used regularly', () => {
    const cache = new PassageCache(64_000)
    const kept = [1, 2, 3].map((key) => passageOf(key))
    for (const passage of kept) cache.get(passage)
    for (let key = 10; key <= 2000; key++) {
      cache.get(passageOf(key))
      if (key % 20 === 0) for (const passage of kept) expect(remembers(cache, passage)).toBe(true)
    }
  })

  it('stays within its capacity of 1 MiB, in at most 16 buffers, for any number of passages', () => {
    const bound = 1024 * 1024
    const cache = new PassageCache(bound)
    let last: AnalysedPassage[] = []
    for (let key = 1; key <= 20_000; key++) last = [...last.slice(-999), cache.get(passageOf(key))]
    const buffers = new Set(last.map(({ words }) => words.buffer))
    const bytes = [...buffers].reduce((sum, { byteLength }) => sum + byteLength, 0)
    expect(buffers.size).toBeLessThanOrEqual(16)
    expect(bytes).toBeLessThanOrEqual(bound)
    const remembered = Array.from({ length: 20_000 }, (_, i) => 20_000 - i).findIndex(
      (key) => !remembers(cache, passageOf(key)),
    )
    // A passage here has at most 24 words and 48 bytes of bookkeeping.
    expect(remembered).toBeGreaterThan(bound / 2 / 250)
    expect(remembered).toBeLessThan(bound / 100)
  })

  it('skips passages longer than its capacity', () => {
    const cache = new PassageCache(16_000)
    const long = passageOf(7, 5000)
    expect(unpacked(cache.get(long))).toEqual(plain(long))
    expect(remembers(cache, long)).toBe(false)
    expect(remembers(cache, passageOf(8))).toBe(false)
    expect(remembers(cache, passageOf(8))).toBe(true)
  })
})
